import type { Attempt, Attempts } from './attempts.ts';
import { Destinations, originOf, type ProbePauses } from './destinations.ts';
import { InFlight } from './in-flight.ts';
import type { Log } from './log.ts';
import { Refusals } from './refusals.ts';
import type { Answer, Sender } from './sender.ts';
import type { Delivery, DeliveryQueue, Held, Outcome, PendingDelivery } from './store.ts';

/** The number of retries after the first attempt. */
const MAX_RETRIES = 5;
/** The number of concurrent requests to one url, each of another webhook. */
const POSTS_PER_URL = 8;
/** The most requests that are begun in one turn of the event loop. A block may concern many webhooks, and queries come in between. */
const SENT_AT_ONCE = 16;
/** Milliseconds before a queue that failed, for example on a full disk, is tried again. */
const FAILED_QUEUE_MS = 1_000;
/** The longest delay of a timer. After it, everything is looked at again. */
const LONGEST_WAIT_MS = 3_600_000;
/** Statuses that refuse one body. Any other says that the url itself is wrong. */
const ABOUT_THE_BODY: ReadonlySet<number> = new Set([400, 413, 415, 422, 500]);

/** When a delivery is tried again: after up to `firstMs` at first, each further time after up to `factor` times as long. */
export type RetrySchedule = { readonly firstMs: number; readonly factor: number };

type DispatcherParts = {
  readonly queue: DeliveryQueue;
  readonly sender: Sender;
  /** The webhook's current url; null when it delivers nothing. */
  readonly urlOf: (webhookId: string) => string | null;
  readonly retries: RetrySchedule;
  readonly probes: ProbePauses;
  /** The number of a webhook's pending deliveries beyond which new ones are dropped, and logged. */
  readonly maxPending: number;
  /** Called when an attempt at a delivery ends, and when a delivery is dropped before any attempt. */
  readonly onEnd: (end: DeliveryEnd) => void;
  /** Learns of each attempt of a schedule. */
  readonly attempts: Attempts;
  readonly log: Log;
};

/** The url accepted the delivery; it will be tried again; its last retry failed; or too many were pending. */
export type DeliveryEnd = 'accepted' | 'retried' | 'abandoned' | 'dropped';
/** How an attempt came about: by the delivery's schedule, or as the probe of a url that takes nothing. */
type Occasion = { readonly isDue: boolean; readonly isProbe: boolean; readonly at: number };

/**
 * Sends the deliveries of a queue to their webhooks' urls: those of a webhook one after another, in their order. A url gets each
 * delivery at least once, unless the delivery is abandoned or dropped.
 *
 * A delivery that is not accepted is tried again by its schedule. While a url can't be reached or takes nothing, its deliveries
 * wait, and one of them is sent every few seconds beside its schedule: see `Destinations`. Such a probe that fails does not count
 * as one of the five retries. Once the url answers, everything that waits for it follows at once.
 */
export type Dispatcher = {
  /** Begins to send. Until then, deliveries are queued. */
  start(): void;
  /**
   * Queues a delivery. It is read back and sent in a later turn of the event loop: where the queue is in a database, and the
   * transaction of this turn is rolled back, nothing is sent.
   */
  deliver(delivery: Delivery): void;
  /** Sends the deliveries of these attempts as new ones. Those that are still pending don't wait for their next attempt. */
  resend(attempts: readonly Attempt[]): void;
  /** Aborts the request in flight of a webhook, whose deliveries were dropped. */
  abort(webhookId: string): void;
  /** Resolves when every delivery was accepted, abandoned or dropped. */
  settled(): Promise<void>;
  /** Sends no more. Resolves when no request is in flight. What is queued stays queued. */
  stop(): Promise<void>;
};

export const createDispatcher = (parts: DispatcherParts): Dispatcher => {
  const { queue, sender, urlOf, retries, maxPending, onEnd, log } = parts;
  const retriesMs = lengthOf(retries);
  /** When to look into the queue for a delivery of each webhook. */
  const wakeAt = new Map(queue.webhookIds().map((id) => [id, 0]));
  const destinations = new Destinations(parts.probes, log);
  const inFlight = new InFlight();
  const refusals = new Refusals(log);
  /** The urls for which no delivery is held until it accepts another. */
  const released = new Set<string>();
  /** Outcomes to record. Until then their deliveries are in flight. */
  let outcomes: Outcome[] = [];
  /** The urls and origins that accept deliveries again: the deliveries that are held for them become due. */
  const toRelease = new Set<string>();
  /** When an attempt last failed in a way that shows that its url takes nothing; null if none has since the last record. */
  let failedAt: number | null = null;
  let waiting: (() => void)[] = [];
  let isPlanned = false;
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let stopped = false;

  const plan = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(work);
  };

  const work = (): void => {
    isPlanned = false;
    clearTimeout(timer);
    try {
      record();
      if (isRunning) sendDue(Date.now());
    } catch (problem) {
      log('deliveries could not be read or stored', { problem: String(problem) });
      if (!stopped) {
        timer = setTimeout(plan, FAILED_QUEUE_MS);
        return;
      }
      // They are sent again after the next start.
      for (const { delivery } of outcomes.splice(0)) inFlight.end(delivery);
    }
    if (inFlight.count > 0 || (wakeAt.size > 0 && !stopped)) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };

  const record = (): void => {
    queue.record(outcomes);
    for (const { delivery } of outcomes) inFlight.end(delivery);
    outcomes = [];
    if (toRelease.size > 0) release();
    if (failedAt !== null) dropOld(failedAt);
    failedAt = null;
  };

  const release = (): void => {
    for (const webhookId of [...wakeAt.keys()]) {
      const url = urlOf(webhookId);
      if (url === null || !(toRelease.has(url) || toRelease.has(originOf(url)))) continue;
      queue.release(webhookId);
      wakeAt.set(webhookId, 0);
    }
    toRelease.clear();
  };

  const sendDue = (now: number): void => {
    const most = inFlight.count + SENT_AT_ONCE;
    let waitMs = LONGEST_WAIT_MS;
    for (const [webhookId, time] of [...wakeAt]) {
      if (inFlight.count === most) {
        plan();
        return;
      }
      waitMs = Math.min(waitMs, time > now ? time - now : sendOf(webhookId, now));
    }
    if (wakeAt.size > 0) timer = setTimeout(plan, waitMs);
  };

  /** Sends the next delivery of a webhook, if there is room. Returns after how long to try again. */
  const sendOf = (webhookId: string, now: number): number => {
    const url = urlOf(webhookId);
    if (url === null) {
      wakeAt.delete(webhookId);
      return LONGEST_WAIT_MS;
    }
    if (inFlight.has(webhookId) || inFlight.countTo(url) >= POSTS_PER_URL) return LONGEST_WAIT_MS;
    const closedMs = destinations.opensAt(url) - performance.now();
    if (closedMs > 0) return closedMs;
    const isProbe = destinations.closedSince(url) !== null;
    let delivery = queue.next(webhookId, now);
    if (delivery === null && isProbe) {
      queue.release(webhookId);
      delivery = queue.next(webhookId, now);
    }
    // The webhooks of a url take turns.
    wakeAt.delete(webhookId);
    const time = delivery === null ? queue.heldUntil(webhookId) : now;
    if (time !== null) wakeAt.set(webhookId, time);
    if (delivery !== null) attempt(url, delivery, { isProbe, isDue: delivery.due <= now, at: Date.now() });
    return delivery === null && time !== null ? Math.max(0, time - now) : LONGEST_WAIT_MS;
  };

  const attempt = (url: string, delivery: PendingDelivery, occasion: Occasion): void => {
    const signal = inFlight.begin(url, delivery);
    destinations.began(url);
    sender
      .send(url, delivery, signal)
      .then(
        (answer) => answered(url, delivery, answer, occasion),
        (problem: unknown) => {
          if (!signal.aborted)
            log('delivery failed', { webhookId: delivery.webhookId, problem: String(problem) });
          destinations.aborted(url);
          inFlight.end(delivery);
        },
      )
      .finally(() => {
        inFlight.free(url);
        plan();
      });
  };

  const answered = (url: string, delivery: PendingDelivery, answer: Answer, occasion: Occasion): void => {
    const held = learn(url, delivery, answer);
    const next = held === null ? null : tryLater(url, delivery, held, occasion);
    if (held === null) {
      outcomes.push({ delivery, next: null });
      onEnd('accepted');
    } else if (!occasion.isDue) return;
    const { at } = occasion;
    parts.attempts.record(delivery, {
      ...{ at, latencyMs: Math.max(0, Date.now() - at), nextAt: next },
      status: ('status' in answer ? answer.status : null) ?? null,
      problem: problemOf(answer),
    });
  };

  /** Learns from an answer what the url takes. Returns what the delivery waits for; null when it is accepted. */
  const learn = (url: string, delivery: PendingDelivery, answer: Answer): Held | null => {
    switch (answer.kind) {
      case 'accepted':
        if (destinations.answered(url) || !released.has(url)) toRelease.add(url);
        released.add(url);
        return null;
      case 'refused':
        destinations.answered(url);
        refusals.tell(delivery, answer.status);
        return ABOUT_THE_BODY.has(answer.status) ? 'until due' : 'until accepted';
      case 'unavailable':
        failedAt = Date.now();
        destinations.unavailable(url, performance.now(), answer.problem);
        // The next probe is another delivery: it may be this one that the url can't take.
        return 'until accepted';
      case 'unreachable':
        failedAt = Date.now();
        // The delivery that failed just before failed for the same reason: it gets its place back.
        if (destinations.unreachable(url, performance.now(), answer.problem)) toRelease.add(originOf(url));
        return 'no';
    }
  };

  /** Returns when the delivery is tried again, in milliseconds since 1970; null when it is not. */
  const tryLater = (
    url: string,
    delivery: PendingDelivery,
    held: Held,
    { isDue, isProbe }: Occasion,
  ): number | null => {
    const { webhookId, chainId, retry, due } = delivery;
    if (held === 'until accepted') released.delete(url);
    if (isDue && retry >= MAX_RETRIES) {
      log('delivery abandoned', { webhookId, chainId, retries: MAX_RETRIES });
      outcomes.push({ delivery, next: null });
      onEnd('abandoned');
      return null;
    }
    if (isDue) {
      onEnd('retried');
      const jitter = 0.5 + Math.random() / 2;
      const waitMs = retries.firstMs * retries.factor ** retry * jitter;
      const nextDue = Date.now() + waitMs;
      outcomes.push({ delivery, next: { retry: retry + 1, due: nextDue, held } });
      return nextDue;
    }
    if (held === 'no') inFlight.end(delivery);
    // A url that takes other deliveries, but failed at this one before, can't take this one.
    else outcomes.push({ delivery, next: { retry, due, held: isProbe ? held : 'until due' } });
    return due;
  };

  /** Drops deliveries that have waited for as long as retries take, if their url was closed all the time. */
  const dropOld = (time: number): void => {
    for (const webhookId of wakeAt.keys()) {
      const url = urlOf(webhookId);
      const since = url === null ? null : destinations.closedSince(url);
      if (since === null || performance.now() - since < retriesMs) continue;
      const dropped = queue.dropDue(webhookId, time - retriesMs);
      if (dropped === 0) continue;
      parts.attempts.dropped(webhookId);
      log('deliveries abandoned', { webhookId, deliveries: dropped });
      for (let count = 0; count < dropped; count += 1) onEnd('abandoned');
    }
  };

  const deliver = (delivery: Delivery): void => {
    const { webhookId } = delivery;
    const pending = queue.count(webhookId);
    if (pending >= maxPending) {
      parts.attempts.dropped(webhookId);
      log('delivery dropped', { webhookId, pending });
      onEnd('dropped');
      return;
    }
    const now = Date.now();
    queue.add(delivery, now);
    wakeAt.set(webhookId, Math.min(now, wakeAt.get(webhookId) ?? now));
    plan();
  };

  return {
    start() {
      isRunning = !stopped;
      // Their urls may be back since the last stop.
      for (const webhookId of wakeAt.keys()) toRelease.add(urlOf(webhookId) ?? '');
      if (wakeAt.size > 0) plan();
    },
    deliver,
    resend(attempts) {
      for (const attempt of attempts) {
        if (!parts.attempts.beginResend(attempt)) continue;
        const { delivery, pendingId, retry, at } = attempt;
        // It is pending once: an outcome of its former place has no effect.
        queue.record([{ delivery: { ...delivery, id: pendingId, retry, due: at }, next: null }]);
        deliver(delivery);
      }
    },
    abort(webhookId) {
      parts.attempts.dropped(webhookId);
      inFlight.abort(webhookId);
    },
    async settled() {
      plan();
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async stop() {
      stopped = true;
      isRunning = false;
      inFlight.abortAll();
      plan();
      await new Promise<void>((resolve) => waiting.push(resolve));
      clearTimeout(timer);
      await sender.close();
    },
  };
};

/** The longest time until the last retry of a delivery. */
const lengthOf = ({ firstMs, factor }: RetrySchedule): number =>
  Array.from({ length: MAX_RETRIES }, (_, retry) => firstMs * factor ** retry).reduce(
    (sum, ms) => sum + ms,
    0,
  );

const problemOf = (answer: Answer): string | null => {
  if (answer.kind === 'accepted') return null;
  return answer.kind === 'refused' ? `it answered ${answer.status}` : answer.problem;
};
