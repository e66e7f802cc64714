import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Delivery } from './events.ts';

/** The number of retries after the first attempt. */
const MAX_RETRIES = 5;
/** The number of concurrent requests to one url. */
const POSTS_PER_URL = 8;
/**
 * The number of a webhook's deliveries that wait, are in flight or will be retried. Beyond it new deliveries are
 * dropped, and logged.
 */
const MAX_PENDING_PER_WEBHOOK = 1000;

export type Log = (message: string, details: Readonly<Record<string, unknown>>) => void;

export type DispatcherParts = {
  readonly sender: Sender;
  /** The webhook's current url; null when its deliveries have no destination and are dropped. */
  readonly urlOf: (webhookId: string) => string | null;
  /** Milliseconds before the first retry, doubled for each further retry. */
  readonly retryBaseMs: number;
  readonly log: Log;
};

/**
 * Sends deliveries to their webhooks' urls, in any order. A url gets each delivery at least once, unless the delivery
 * is abandoned or dropped.
 */
export type Dispatcher = {
  deliver(delivery: Delivery): void;
  /** Drops all pending deliveries of the webhook, and aborts those in flight. */
  cancel(webhookId: string): void;
  /** Resolves when every delivery was accepted, abandoned or dropped. */
  settled(): Promise<void>;
  /** Drops all deliveries. Resolves when none is in flight. */
  stop(): Promise<void>;
};

type Pending = { count: number; cancelled: AbortController };

export const createDispatcher = ({ sender, urlOf, retryBaseMs, log }: DispatcherParts): Dispatcher => {
  const limiter = createKeyedLimiter(POSTS_PER_URL);
  const pending = new Map<string, Pending>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  /** Whether the delivery needs no retry: the url accepted it, or there is no url. */
  const attempt = async (delivery: Delivery, retry: number, signal: AbortSignal): Promise<boolean> => {
    for (;;) {
      const url = urlOf(delivery.webhookId);
      if (url === null) return true;
      const release = await limiter.acquire(url);
      try {
        // The webhook's url may have changed while the delivery waited.
        if (urlOf(delivery.webhookId) === url) return await sender.send(url, delivery, retry, signal);
      } finally {
        release();
      }
    }
  };

  const run = async (delivery: Delivery, signal: AbortSignal): Promise<void> => {
    for (let retry = 0; retry <= MAX_RETRIES; retry++) {
      if (retry > 0) {
        const jitter = 0.5 + Math.random() / 2;
        await sleep(retryBaseMs * 2 ** (retry - 1) * jitter, undefined, { signal });
      }
      if (await attempt(delivery, retry, signal)) return;
    }
    log('delivery abandoned', {
      webhookId: delivery.webhookId,
      chainId: delivery.chainId,
      retries: MAX_RETRIES,
    });
  };

  const pendingOf = (webhookId: string): Pending => {
    const existing = pending.get(webhookId);
    if (existing !== undefined) return existing;
    const fresh = { count: 0, cancelled: new AbortController() };
    pending.set(webhookId, fresh);
    return fresh;
  };

  const cancel = (webhookId: string): void => {
    const entry = pending.get(webhookId);
    if (entry === undefined) return;
    entry.cancelled.abort();
    // A new controller, so that a later delivery is not cancelled with the earlier ones.
    entry.cancelled = new AbortController();
  };

  const settled = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
  };

  return {
    deliver(delivery) {
      if (stopped) return;
      const entry = pendingOf(delivery.webhookId);
      if (entry.count >= MAX_PENDING_PER_WEBHOOK) {
        log('delivery dropped', { webhookId: delivery.webhookId, pending: entry.count });
        return;
      }
      entry.count += 1;
      const { signal } = entry.cancelled;
      const finished = run(delivery, signal)
        .catch((error: unknown) => {
          if (!signal.aborted)
            log('delivery failed', { webhookId: delivery.webhookId, error: String(error) });
        })
        .finally(() => {
          running.delete(finished);
          if (--entry.count === 0) pending.delete(delivery.webhookId);
        });
      running.add(finished);
    },
    cancel,
    settled,
    async stop() {
      stopped = true;
      for (const webhookId of pending.keys()) cancel(webhookId);
      await settled();
      await sender.close();
    },
  };
};

/** A concurrency limiter for each key. Waiting tasks of a key run in the order of their arrival. */
export type KeyedLimiter = {
  /** Resolves when the key has a free slot, with the function that releases it. */
  acquire(key: string): Promise<() => void>;
};

type Slot = { running: number; readonly waiting: (() => void)[] };

export const createKeyedLimiter = (width: number): KeyedLimiter => {
  const slots = new Map<string, Slot>();

  const release = (key: string, slot: Slot): void => {
    const next = slot.waiting.shift();
    if (next !== undefined) next();
    else if (--slot.running === 0) slots.delete(key);
  };

  return {
    async acquire(key) {
      const slot = slots.get(key) ?? { running: 0, waiting: [] };
      slots.set(key, slot);
      if (slot.running < width) slot.running += 1;
      else await new Promise<void>((resolve) => slot.waiting.push(resolve));
      return () => release(key, slot);
    },
  };
};

type Sender = {
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
