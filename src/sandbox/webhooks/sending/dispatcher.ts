import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from './block-deliveries.ts';
import { createKeyedLimiter } from './keyed-limiter.ts';
import type { Post } from './sender.ts';

/** After the first attempt. */
const MAX_RETRIES = 5;
/** Posts at once to one url. */
const POSTS_PER_URL = 8;
/** Waiting, in flight or to be retried, for one webhook; beyond it new deliveries are dropped, and that is logged. */
const MAX_PENDING_PER_WEBHOOK = 1000;

export type Log = (message: string, details: Readonly<Record<string, unknown>>) => void;

export type DispatcherParts = {
  readonly post: Post;
  /** Where the webhook's deliveries go now; null: nowhere, and they are dropped. */
  readonly urlOf: (webhookId: string) => string | null;
  /** The pause before the first retry; each further one is twice as long. */
  readonly retryBaseMs: number;
  readonly log: Log;
};

/** Gets each delivery to its webhook's url, at least once or not at all, in any order. */
export type Dispatcher = {
  deliver(delivery: Delivery): void;
  /** Drops all that is pending for the webhook, and cuts what is being posted. */
  cancel(webhookId: string): void;
  /** Resolves once every delivery was taken, abandoned or dropped. */
  settled(): Promise<void>;
  /** Drops everything; resolves when nothing is in flight any more. */
  stop(): Promise<void>;
};

type Pending = { count: number; cancelled: AbortController };

export const createDispatcher = ({ post, urlOf, retryBaseMs, log }: DispatcherParts): Dispatcher => {
  const limiter = createKeyedLimiter(POSTS_PER_URL);
  const pending = new Map<string, Pending>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  /** Whether the delivery is done with: taken, or without a url to go to. */
  const attempt = async (delivery: Delivery, retry: number, signal: AbortSignal): Promise<boolean> => {
    for (;;) {
      const url = urlOf(delivery.webhookId);
      if (url === null) return true;
      const release = await limiter.acquire(url);
      try {
        // The webhook may have been pointed elsewhere while this one waited.
        if (urlOf(delivery.webhookId) === url) return await post.send(url, delivery, retry, signal);
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
    // What comes after a pause must not be cancelled with what came before it.
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
      await post.close();
    },
  };
};
