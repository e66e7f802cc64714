import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Delivery } from './block-deliveries.ts';

export type Post = {
  /**
   * Whether the url took the delivery: it answered 2xx in time. An unreachable url, another status or no answer
   * in time is false; rejects only when the signal cuts it short.
   */
  send(url: string, delivery: Delivery, retry: number, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
};

export type PostOptions = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly timeoutMs: number;
  /** Signs the raw body, HMAC-SHA256; deliveries are unsigned without it. */
  readonly signatureSecret?: string | undefined;
};

export const createPost = ({ now, timeoutMs, signatureSecret }: PostOptions): Post => {
  const agent = new Agent();

  const headers = ({ webhookId, type, chainId, body }: Delivery, retry: number): Record<string, string> => ({
    'content-type': 'application/json',
    'x-sandbox-webhook-id': webhookId,
    'x-sandbox-webhook-type': type,
    'x-sandbox-webhook-chain-id': String(chainId),
    'x-sandbox-webhook-dispatch-timestamp': new Date(now()).toISOString(),
    'x-sandbox-webhook-retry-index': String(retry),
    ...(signatureSecret === undefined
      ? {}
      : { 'x-sandbox-webhook-signature': createHmac('sha256', signatureSecret).update(body).digest('hex') }),
  });

  return {
    async send(url, delivery, retry, signal) {
      try {
        const response = await request(url, {
          method: 'POST',
          headers: headers(delivery, retry),
          body: delivery.body,
          dispatcher: agent,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        // The status is the answer; the rest is read only so that the connection can be used again.
        await response.body.dump().catch(() => undefined);
        return response.statusCode >= 200 && response.statusCode < 300;
      } catch {
        signal.throwIfAborted();
        return false;
      }
    },
    close: () => agent.destroy(),
  };
};
