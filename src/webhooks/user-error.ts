import { UpstreamError } from '../upstream/client/errors.ts';
import { UnsupportedOperationError } from './unsupported-operation.ts';

type Code = 'NOT_FOUND' | 'TYPE_MISMATCH' | 'REJECTED';

/** What the caller can mend, told as data. */
export class WebhookUserError {
  readonly code: Code;
  readonly message: string;

  constructor(code: Code, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** The answer of a change, or what the caller can mend; every other failure is passed on. */
export const asUserError = async <Answer>(change: Promise<Answer>): Promise<Answer | WebhookUserError> => {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.failure !== 'rejected') throw error;
    if (error instanceof UnsupportedOperationError) throw error;
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

/** "Webhook type balances cannot have activity_type": deployments tell it by words alone, in any order. */
const isTypeMismatch = (serviceMessage: string): boolean =>
  /\b(?:transaction_type|counterparty|activity_type)\b/i.test(serviceMessage) &&
  /\b(?:type|types|webhooks?)\b/i.test(serviceMessage) &&
  /\b(?:can ?not|can't|only|not)\b/i.test(serviceMessage);
