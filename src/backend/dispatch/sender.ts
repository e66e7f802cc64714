import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { PendingDelivery } from './store.ts';

/** The outcome of a request. `problem` names no url, since a url may be a secret. */
export type Answer =
  /** The url answered 2xx. */
  | { readonly kind: 'accepted'; readonly status: number }
  /** The url answered another status. */
  | { readonly kind: 'refused'; readonly status: number }
  /** The url did not answer, or answered that it can't take anything now. Another request may fare better, or the same one later. */
  | { readonly kind: 'unavailable'; readonly problem: string; readonly status?: number }
  /** There was no connection, so nothing of the delivery was sent. */
  | { readonly kind: 'unreachable'; readonly problem: string };

export type Sender = {
  /** Posts the delivery. Rejects only when the signal aborts. */
  send(url: string, delivery: PendingDelivery, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
};

/**
 * Posts within the process: for the urls of the gateway that embeds this service. Returns null for any other url. Resolves with the
 * status, or with null while the gateway does not listen.
 */
export type PostWithin = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<number | null> | null;

export type SenderOptions = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly timeoutMs: number;
  /** The prefix of the names of a delivery's headers, such as `x-service`. */
  readonly headerPrefix: string;
  /** The secret of the HMAC-SHA256 over the raw body. Default: deliveries are unsigned. */
  readonly signatureSecret?: string | undefined;
  /** Default: all deliveries are posted over HTTP. */
  readonly postWithin?: PostWithin | undefined;
};

/** A proxy answers 502 to 504 while a receiver restarts, and a busy receiver 408, 429 or 503. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

export const createSender = ({
  now,
  timeoutMs,
  headerPrefix,
  signatureSecret,
  postWithin = () => null,
}: SenderOptions): Sender => {
  // Shorter than the whole request, so that the two can be told apart.
  const agent = new Agent({ connect: { timeout: Math.ceil(timeoutMs / 2) } });

  const headersOf = ({ webhookId, type, chainId, body, retry }: PendingDelivery) => ({
    'content-type': 'application/json',
    [`${headerPrefix}-webhook-id`]: webhookId,
    [`${headerPrefix}-webhook-type`]: type,
    [`${headerPrefix}-webhook-chain-id`]: String(chainId),
    [`${headerPrefix}-webhook-dispatch-timestamp`]: new Date(now()).toISOString(),
    [`${headerPrefix}-webhook-retry-index`]: String(retry),
    ...(signatureSecret === undefined
      ? {}
      : {
          [`${headerPrefix}-webhook-signature`]: createHmac('sha256', signatureSecret)
            .update(body)
            .digest('hex'),
        }),
  });

  return {
    async send(url, delivery, signal) {
      try {
        const { body } = delivery;
        const headers = headersOf(delivery);
        const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
        const posted = postWithin(url, headers, body);
        if (posted !== null) {
          const status = await unlessAborted(posted, limit);
          return status === null ? NOT_LISTENING : answerOf(status);
        }
        const response = await request(url, {
          method: 'POST',
          ...{ headers, body, dispatcher: agent, signal: limit },
        });
        // Only the status counts. The body is read so that the connection can be reused.
        await response.body.dump().catch(() => undefined);
        return answerOf(response.statusCode);
      } catch (problem) {
        signal.throwIfAborted();
        return failureOf(problem);
      }
    },
    close: () => agent.destroy(),
  };
};

const NOT_LISTENING: Answer = { kind: 'unreachable', problem: 'it does not listen' };

/** Rejects with the signal's reason once it aborts. */
const unlessAborted = <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });

const answerOf = (status: number): Answer => {
  if (status >= 200 && status < 300) return { kind: 'accepted', status };
  return NOT_NOW.has(status)
    ? { kind: 'unavailable', problem: `it answered ${status}`, status }
    : { kind: 'refused', status };
};

/** The system calls that open a connection. */
const CONNECTING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

const failureOf = (error: unknown): Answer => {
  const { code, syscall, message }: { code?: unknown; syscall?: unknown; message?: unknown } = Object(error);
  const isConnecting =
    CONNECTING.has(syscall) || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ECONNREFUSED';
  const [problem = ''] = String(message).split('\n');
  return { kind: isConnecting ? 'unreachable' : 'unavailable', problem };
};
