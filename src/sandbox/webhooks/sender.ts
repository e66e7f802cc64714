import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Delivery } from './block-deliveries.ts';

export type Sender = {
  /**
   * Posts the delivery. Resolves with true when the url answers 2xx in time, and with false when it is unreachable,
   * answers another status or does not answer in time. Rejects only when the signal aborts.
   */
  send(url: string, delivery: Delivery, retry: number, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
};

export type SenderOptions = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly timeoutMs: number;
  /** The secret of the HMAC-SHA256 over the raw body. Default: deliveries are unsigned. */
  readonly signatureSecret?: string | undefined;
};

export const createSender = ({ now, timeoutMs, signatureSecret }: SenderOptions): Sender => {
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
        // Only the status counts. The body is read so that the connection can be reused.
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
