import { builder } from '../graph/builder.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { Webhook as WebhookShape } from './rest.ts';
import { Webhook } from './schema.ts';

type ErrorCode = 'NOT_FOUND' | 'TYPE_MISMATCH' | 'REJECTED';

/** What the caller can mend, told as data. */
export class WebhookRefusal {
  readonly code: ErrorCode;
  readonly message: string;

  constructor(code: ErrorCode, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** The answer of a change, or what the caller can mend; every other failure is passed on. */
export const orRefusal = async <Answer>(change: Promise<Answer>): Promise<Answer | WebhookRefusal> => {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.failure !== 'rejected') throw error;
    const { status, sentence } = error;
    if (status === 404) return new WebhookRefusal('NOT_FOUND', sentence || 'There is no such webhook.');
    const code = TYPE_MISMATCH.test(sentence ?? '') ? 'TYPE_MISMATCH' : 'REJECTED';
    return new WebhookRefusal(code, sentence || `The service refused the change with status ${status}.`);
  }
};

/** "Webhook type balances cannot have activity_type": deployments tell it by words alone. */
const TYPE_MISMATCH = /\btype\b.*\b(?:can ?not|can't|only|must not|not allowed)\b/i;

const WebhookErrorCode = builder.enumType('WebhookErrorCode', {
  description: 'What the caller can mend.',
  values: {
    NOT_FOUND: { description: 'No such webhook.' },
    TYPE_MISMATCH: { description: "A filter that does not belong to the webhook's type." },
    REJECTED: { description: 'Anything else that the service refused: message says what.' },
  },
});

export const WebhookError = builder.objectType(WebhookRefusal, {
  name: 'WebhookError',
  description:
    'What the caller can mend. Faults of the service, keys and quotas are errors of the operation instead.',
  fields: (t) => ({
    code: t.expose('code', { type: WebhookErrorCode, description: 'Which kind of mistake.' }),
    message: t.exposeString('message', { description: "The service's own sentence." }),
  }),
});

/** `{name}Payload` that holds the webhook as it is now, and the union of it with WebhookError. */
export const webhookResult = (name: string, description: string) => {
  const payload = builder.objectRef<{ readonly webhook: WebhookShape }>(`${name}Payload`).implement({
    description,
    fields: (t) => ({
      webhook: t.field({
        type: Webhook,
        description: 'As it is now.',
        resolve: ({ webhook }) => webhook,
      }),
    }),
  });
  return builder.unionType(`${name}Result`, {
    description: 'The changed webhook, or what the caller can mend.',
    types: [payload, WebhookError],
    resolveType: (value) => (value instanceof WebhookRefusal ? WebhookError : payload),
  });
};
