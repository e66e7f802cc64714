import { UpstreamError } from '../upstream/client/errors.ts';
import { valuesOf } from '../upstream/page.ts';
import { MalformedFieldError } from '../upstream/parse/fields.ts';
import { listWebhooks, type Operation, readWebhooksPage, updateAddresses } from './rest.ts';

/** Sends one request and resolves with the parsed body. Rejects with UpstreamError. */
export type Send = (operation: Operation, signal?: AbortSignal) => Promise<unknown>;

/** This deployment lacks an operation that others have. No webhook is at fault, and the caller can't fix it. */
export class UnsupportedOperationError extends UpstreamError {
  constructor({ purpose, method, path }: Operation, cause: UpstreamError) {
    const serviceMessage = `The service has no operation to ${purpose}: it answered ${method} ${pathnameOf(path)} with ${cause.status}.`;
    super('rejected', serviceMessage, {
      serviceMessage,
      gatewayKey: cause.gatewayKey,
      cause,
      ...(cause.status !== undefined && { status: cause.status }),
    });
    this.name = 'UnsupportedOperationError';
  }
}

/** Whether upstream answered with a 4xx that says nothing about the key, the quota or the rate. */
export const isRejected = (error: unknown): error is UpstreamError =>
  error instanceof UpstreamError && error.failure === 'rejected';

const pathnameOf = (path: Operation['path']): string => `/${path.join('/')}`;

/** Sends like `send`, but rejects with UnsupportedOperationError if the deployment lacks the operation. */
export const detectUnsupported =
  (send: Send): Send =>
  async (operation, signal) => {
    try {
      return await send(operation, signal);
    } catch (error) {
      if (isRejected(error) && (await isUnsupported(operation, error, send)))
        throw new UnsupportedOperationError(operation, error);
      throw error;
    }
  };

/**
 * Whether the answer means that the operation is missing, rather than the webhook. A 405 means the operation, and so does
 * a 404 where the path names no webhook. A 404 means the webhook when its message mentions one, or when the contract
 * guarantees the operation. Any other 404 may mean either: it means the operation if the webhook exists.
 */
const isUnsupported = async (
  { webhookId, guaranteed, path }: Operation,
  { status, serviceMessage }: UpstreamError,
  send: Send,
): Promise<boolean> => {
  if (status === 405) return true;
  if (status !== 404) return false;
  if (webhookId === null) return true;
  if (guaranteed || mentionsWebhook(serviceMessage ?? '', pathnameOf(path), webhookId)) return false;
  return (await isListed(webhookId, send)) ?? (await isUpdatable(webhookId, send));
};

/** Upstream has no error codes, so its wording decides. A router repeats at most the path that it does not know. */
const mentionsWebhook = (serviceMessage: string, path: string, webhookId: string): boolean => {
  const words = serviceMessage.toLowerCase().replaceAll(path, '');
  return words.includes(webhookId) || /\b(?:webhook|subscription)\b/.test(words);
};

/**
 * Whether the first page of the webhooks has this one. Reading it is free and changes nothing. Null if the page can't tell:
 * upstream does not list webhooks, the page has a malformed item, or more pages follow.
 */
const isListed = async (webhookId: string, send: Send): Promise<boolean | null> => {
  try {
    const { items, nextOffset } = await readWebhooksPage(await send(listWebhooks(null)), Date.now());
    const ids = valuesOf(items).map((item) => (item instanceof MalformedFieldError ? null : item.webhookId));
    if (ids.includes(webhookId)) return true;
    return nextOffset !== null || ids.includes(null) ? null : false;
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
};

/**
 * Whether the webhook exists, judged by an update of no addresses, which the contract guarantees. Only a 404 means that
 * it does not: a deployment may refuse an empty update with 400 or 422 before it looks for the webhook.
 */
const isUpdatable = async (webhookId: string, send: Send): Promise<boolean> => {
  try {
    await send(updateAddresses(webhookId, {}));
    return true;
  } catch (error) {
    if (isRejected(error)) return error.status !== 404;
    throw error;
  }
};
