import type { ObjectRef } from '@pothos/core';
import { type BuilderTypes, builder } from '../../graph/builder.ts';
import { isRejected, UnsupportedOperationError } from '../unsupported-operation.ts';
import { TooManyWatchedWallets } from '../watched-wallets.ts';

type Code = 'NOT_FOUND' | 'TYPE_MISMATCH' | 'REJECTED';

/** A mistake that the caller can correct, as data of the mutation's result. */
class WebhookUserError {
  readonly code: Code;
  readonly message: string;

  constructor(code: Code, message: string) {
    this.code = code;
    this.message = message;
  }
}

const WebhookErrorCode = builder.enumType('WebhookErrorCode', {
  description: 'A mistake that the caller can correct.',
  values: {
    NOT_FOUND: { description: 'There is no such webhook.' },
    TYPE_MISMATCH: { description: "A filter does not belong to the webhook's type." },
    REJECTED: { description: 'The service refused the change for another reason, which message states.' },
  } satisfies Record<Code, object>,
});

const WebhookError = builder.objectType(WebhookUserError, {
  name: 'WebhookError',
  description:
    'A mistake that the caller can correct. Failures of the service, keys and quotas are errors of the operation instead.',
  fields: (t) => ({
    code: t.expose('code', { type: WebhookErrorCode, description: 'The kind of mistake.' }),
    message: t.exposeString('message', {
      description: "The service's own message; the gateway's where the service gave none.",
    }),
  }),
});

/** The union `{change}Result`: the change's payload or a WebhookError. */
export const mutationResult = <Payload extends object>(
  change: string,
  payload: ObjectRef<BuilderTypes, Payload>,
) =>
  builder.unionType(`${change}Result`, {
    description: 'The change, or a mistake that the caller can correct.',
    types: [payload, WebhookError],
    resolveType: (value) => (value instanceof WebhookUserError ? WebhookError : payload),
  });

/** Resolves with the change's answer, or with a mistake that the caller can correct. Rejects with every other failure. */
export const asUserError = async <Answer>(change: Promise<Answer>): Promise<Answer | WebhookUserError> => {
  try {
    return await change;
  } catch (error) {
    if (error instanceof TooManyWatchedWallets) return new WebhookUserError('REJECTED', error.message);
    if (!isRejected(error) || error instanceof UnsupportedOperationError) throw error;
    const { status, serviceMessage } = error;
    if (status === 404)
      return new WebhookUserError('NOT_FOUND', serviceMessage || 'There is no such webhook.');
    const code = isTypeMismatch(serviceMessage ?? '') ? 'TYPE_MISMATCH' : 'REJECTED';
    return new WebhookUserError(
      code,
      serviceMessage || `The service refused the change with status ${status}.`,
    );
  }
};

/** Upstream has no error codes: only its words tell a mismatch, such as "Webhook type balances cannot have activity_type". */
const isTypeMismatch = (serviceMessage: string): boolean =>
  /\b(?:transaction_type|counterparty|activity_type)\b/i.test(serviceMessage) &&
  /\b(?:type|types|webhooks?)\b/i.test(serviceMessage) &&
  /\b(?:can ?not|can't|only|not)\b/i.test(serviceMessage);
