import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Delivery, DeliveryQueue, Outcome, PendingDelivery } from './store.ts';

/** The number of retries after the first attempt. */
const MAX_RETRIES = 5;
/** The number of concurrent requests to one url. */
const POSTS_PER_URL = 8;
/** Milliseconds until a queue that failed, such as on a full disk, is used again. */
const FAILED_QUEUE_MS = 1_000;
/** Further ahead than a timer can be set there is nothing to wait for. */
const LONGEST_WAIT_MS = 3_600_000;

export type Log = (message: string, details: Readonly<Record<string, unknown>>) => void;

/** When a delivery is tried again: after up to `firstMs`, and then after up to `factor` times as long as before. */
export type RetrySchedule = { readonly firstMs: number; readonly factor: number };

type DispatcherParts = {
  readonly queue: DeliveryQueue;
  readonly sender: Sender;
  /** The webhook's current url; null when it delivers nothing. */
  readonly urlOf: (webhookId: string) => string | null;
  readonly retries: RetrySchedule;
  /** The number of a webhook's pending deliveries beyond which new ones are dropped, and logged. */
  readonly maxPending: number;
  /** Is told how each attempt at a delivery ends, and of each that is dropped before one. */
  readonly onEnd: (end: DeliveryEnd) => void;
  readonly log: Log;
};

/** The url has accepted a delivery; it is tried again; it was after the last retry; or too many were pending. */
export type DeliveryEnd = 'accepted' | 'retried' | 'abandoned' | 'dropped';

/**
 * Sends the deliveries of a queue to their webhooks' urls, in any order. A url gets each delivery at least once, unless the
 * delivery is abandoned or dropped.
 */
export type Dispatcher = {
  /**
   * Queues a delivery. It is read back and sent in a later turn of the event loop: where the queue is in a database, and the
   * transaction of this turn is rolled back, nothing is sent.
   */
  deliver(delivery: Delivery): void;
  /** Aborts requests in flight of a webhook, whose deliveries were dropped. */
  abort(webhookId: string): void;
  /** Resolves when every delivery was accepted, abandoned or dropped. */
  settled(): Promise<void>;
  /** Sends no more. Resolves when no request is in flight. What is queued stays queued. */
  stop(): Promise<void>;
};

export const createDispatcher = (parts: DispatcherParts): Dispatcher => {
  const { queue, sender, urlOf, retries, maxPending, onEnd, log } = parts;
  /** When each webhook may have a delivery to send. What it really has is read from the queue. */
  const wakeAt = new Map(queue.webhookIds().map((id) => [id, 0]));
  const inFlight = new InFlight();
  /** What is to be recorded. Until then these deliveries are in flight. */
  let outcomes: Outcome[] = [];
  let waiting: (() => void)[] = [];
  let isPlanned = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const plan = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(work);
  };

  const wake = (webhookId: string, time: number): void => {
    wakeAt.set(webhookId, Math.min(time, wakeAt.get(webhookId) ?? time));
  };

  const work = (): void => {
    isPlanned = false;
    clearTimeout(timer);
    try {
      record();
      if (!stopped) sendDue(Date.now());
    } catch (problem) {
      log('deliveries could not be read or stored', { problem: String(problem) });
      if (!stopped) {
        timer = setTimeout(plan, FAILED_QUEUE_MS);
        return;
      }
      // They are sent again after the next start.
      for (const { delivery } of outcomes.splice(0)) inFlight.end(delivery);
    }
    if (!inFlight.isEmpty || (wakeAt.size > 0 && !stopped)) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };

  const record = (): void => {
    queue.record(outcomes);
    for (const { delivery, retryAt } of outcomes) {
      inFlight.end(delivery);
      if (retryAt !== null) wake(delivery.webhookId, retryAt);
    }
    outcomes = [];
  };

  const sendDue = (now: number): void => {
    for (const [webhookId, time] of [...wakeAt]) if (time <= now) sendOf(webhookId, now);
    const next = wakeAt
      .values()
      .reduce((least, time) => (time > now ? Math.min(least, time) : least), Infinity);
    if (next < Infinity) timer = setTimeout(plan, Math.min(next - now, LONGEST_WAIT_MS));
  };

  /** Sends what is due of a webhook, as far as its url has room. */
  const sendOf = (webhookId: string, now: number): void => {
    const url = urlOf(webhookId);
    if (url === null) {
      wakeAt.delete(webhookId);
      return;
    }
    const room = POSTS_PER_URL - inFlight.countTo(url);
    if (room <= 0) return;
    const due = queue.due(webhookId, now, room + inFlight.countOf(webhookId));
    const found = due.filter((delivery) => !inFlight.has(delivery)).slice(0, room);
    // The next one may have to wait for room, behind other webhooks of the url.
    const next = found.length === room ? now : queue.nextAfter(webhookId, now);
    wakeAt.delete(webhookId);
    if (next !== null) wakeAt.set(webhookId, next);
    for (const delivery of found) attempt(url, delivery);
  };

  const attempt = (url: string, delivery: PendingDelivery): void => {
    const signal = inFlight.begin(url, delivery);
    sender
      .send(url, delivery, signal)
      .then(
        (isAccepted) => {
          const retryAt = isAccepted ? null : retryOf(delivery);
          outcomes.push({ delivery, retryAt });
          onEnd(isAccepted ? 'accepted' : retryAt === null ? 'abandoned' : 'retried');
        },
        (problem: unknown) => {
          if (!signal.aborted)
            log('delivery failed', { webhookId: delivery.webhookId, problem: String(problem) });
          inFlight.end(delivery);
        },
      )
      .finally(() => {
        inFlight.free(url);
        plan();
      });
  };

  /** When to try again a delivery that was not accepted; null when it is abandoned. */
  const retryOf = ({ webhookId, chainId, retry }: PendingDelivery): number | null => {
    if (retry >= MAX_RETRIES) {
      log('delivery abandoned', { webhookId, chainId, retries: MAX_RETRIES });
      return null;
    }
    const jitter = 0.5 + Math.random() / 2;
    return Date.now() + retries.firstMs * retries.factor ** retry * jitter;
  };

  if (wakeAt.size > 0) plan();
  return {
    deliver(delivery) {
      const { webhookId } = delivery;
      const pending = queue.count(webhookId);
      if (pending >= maxPending) {
        log('delivery dropped', { webhookId, pending });
        onEnd('dropped');
        return;
      }
      const now = Date.now();
      queue.add(delivery, now);
      wake(webhookId, now);
      plan();
    },
    abort: (webhookId) => inFlight.abort(webhookId),
    async settled() {
      plan();
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async stop() {
      stopped = true;
      inFlight.abortAll();
      plan();
      await new Promise<void>((resolve) => waiting.push(resolve));
      clearTimeout(timer);
      await sender.close();
    },
  };
};

/** The deliveries that are being sent, or whose outcome is not recorded yet. */
class InFlight {
  readonly #byWebhook = new Map<string, Map<number, AbortController>>();
  readonly #byUrl = new Map<string, number>();

  begin(url: string, { webhookId, id }: PendingDelivery): AbortSignal {
    const others = this.#byWebhook.get(webhookId);
    const controller = new AbortController();
    if (others === undefined) this.#byWebhook.set(webhookId, new Map([[id, controller]]));
    else others.set(id, controller);
    this.#byUrl.set(url, this.countTo(url) + 1);
    return controller.signal;
  }

  /** A request to the url has ended. */
  free(url: string): void {
    const left = this.countTo(url) - 1;
    if (left > 0) this.#byUrl.set(url, left);
    else this.#byUrl.delete(url);
  }

  end({ webhookId, id }: PendingDelivery): void {
    const others = this.#byWebhook.get(webhookId);
    others?.delete(id);
    if (others?.size === 0) this.#byWebhook.delete(webhookId);
  }

  has({ webhookId, id }: PendingDelivery): boolean {
    return this.#byWebhook.get(webhookId)?.has(id) ?? false;
  }

  countOf(webhookId: string): number {
    return this.#byWebhook.get(webhookId)?.size ?? 0;
  }

  countTo(url: string): number {
    return this.#byUrl.get(url) ?? 0;
  }

  get isEmpty(): boolean {
    return this.#byWebhook.size === 0;
  }

  abort(webhookId: string): void {
    for (const controller of this.#byWebhook.get(webhookId)?.values() ?? []) controller.abort();
  }

  abortAll(): void {
    for (const webhookId of [...this.#byWebhook.keys()]) this.abort(webhookId);
  }
}

type Sender = {
  /**
   * Posts the delivery. Resolves with true when the url answers 2xx in time, and with false when it is unreachable,
   * answers another status or does not answer in time. Rejects only when the signal aborts.
   */
  send(url: string, delivery: PendingDelivery, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
};

export type SenderOptions = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly timeoutMs: number;
  /** What the names of a delivery's headers begin with, such as `x-service`. */
  readonly headerPrefix: string;
  /** The secret of the HMAC-SHA256 over the raw body. Default: deliveries are unsigned. */
  readonly signatureSecret?: string | undefined;
};

export const createSender = ({ now, timeoutMs, headerPrefix, signatureSecret }: SenderOptions): Sender => {
  const agent = new Agent();

  const headers = ({ webhookId, type, chainId, body, retry }: PendingDelivery) => ({
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
        const response = await request(url, {
          method: 'POST',
          headers: headers(delivery),
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
