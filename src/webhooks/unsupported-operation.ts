import { UpstreamError } from '../upstream/client/errors.ts';
import type { Operation } from './requests.ts';

/** The service lacks an operation that not every deployment has: no webhook is at fault, and no caller can mend it. */
export class UnsupportedOperationError extends UpstreamError {
  constructor({ purpose, method, path }: Operation, cause: UpstreamError) {
    const serviceMessage = `The service has no operation to ${purpose}: it answered ${method} ${path} with ${cause.status}.`;
    super('rejected', serviceMessage, {
      serviceMessage,
      gatewayKey: cause.gatewayKey,
      cause,
      ...(cause.status !== undefined && { status: cause.status }),
    });
    this.name = 'AbsentOperationError';
  }
}

/**
 * Whether the answer says that the operation is not there, rather than the webhook: a 405 does, and so does a 404 where
 * no webhook was named. A 404 that tells of a webhook, or comes from an operation that every deployment has, means the
 * webhook. Any other 404 may be either: then it is the operation if the webhook `exists` all the same.
 */
export const isUnsupported = async (
  { webhookId, guaranteed, path }: Operation,
  { status, serviceMessage }: UpstreamError,
  exists: (webhookId: string) => Promise<boolean>,
): Promise<boolean> => {
  if (status === 405) return true;
  if (status !== 404) return false;
  if (webhookId === null) return true;
  return !guaranteed && !mentionsWebhook(serviceMessage ?? '', path, webhookId) && exists(webhookId);
};

/** A router repeats at most the path that it does not know. */
const mentionsWebhook = (serviceMessage: string, path: string, webhookId: string): boolean => {
  const words = serviceMessage.toLowerCase().replaceAll(path, '');
  return words.includes(webhookId) || /\b(?:webhook|subscription)\b/.test(words);
};
