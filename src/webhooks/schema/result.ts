import type { ObjectRef } from '@pothos/core';
import { type BuilderTypes, builder } from '../../graph/builder.ts';
import { WebhookUserError } from '../user-error.ts';

const WebhookErrorCode = builder.enumType('WebhookErrorCode', {
  description: 'What the caller can mend.',
  values: {
    NOT_FOUND: { description: 'No such webhook.' },
    TYPE_MISMATCH: { description: "A filter that does not belong to the webhook's type." },
    REJECTED: { description: 'Anything else that the service refused: message says what.' },
  },
});

const WebhookError = builder.objectType(WebhookUserError, {
  name: 'WebhookError',
  description:
    'What the caller can mend. Faults of the service, keys and quotas are errors of the operation instead.',
  fields: (t) => ({
    code: t.expose('code', { type: WebhookErrorCode, description: 'Which kind of mistake.' }),
    message: t.exposeString('message', {
      description: "The service's own sentence; the gateway's where the service gave none.",
    }),
  }),
});

/** `{change}Result`: the change's payload or a WebhookError. */
export const mutationResult = <Payload extends object>(
  change: string,
  payload: ObjectRef<BuilderTypes, Payload>,
) =>
  builder.unionType(`${change}Result`, {
    description: 'What was changed, or what the caller can mend.',
    types: [payload, WebhookError],
    resolveType: (value) => (value instanceof WebhookUserError ? WebhookError : payload),
  });
