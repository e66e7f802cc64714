import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, type Deadline, monotonicClock, raceWithTimeout, sleep } from '../../lib/deadlines.ts';
import { atMostEntries } from '../../lib/memo.ts';
import { clientGone, deadlineExceeded, MAX_COOLDOWN_MS, UpstreamError } from './errors.ts';
import type { Credential } from './request.ts';
import { MAX_WAIT_MS } from './retry.ts';

/** Limits concurrent requests and requests per second, in the order of arrival (FIFO). */
export type RequestLimiter = {
  /**
   * Starts the deadline, waits for a free slot and runs `task`, which keeps the slot until it settles. Rejects with
   * UpstreamError `timeout` when the deadline passes in the queue, or `aborted` when its signal aborts. Rejects at once
   * with `rateLimited` when the rate limit alone shows that the deadline would pass.
   */
  run<Answer>(deadline: Deadline, task: () => Promise<Answer>): Promise<Answer>;
};

/** A rate limit over several gateways. */
export type SharedRate = {
  /**
   * Reserves the next slot unless it is more than `maxWaitMs` away. Resolves with the milliseconds until then; null if other
   * gateways can't be asked.
   */
  reserve(maxWaitMs: number): Promise<{ readonly isReserved: boolean; readonly waitMs: number } | null>;
};

/** Waits for a slot of the shared rate. Rejects as `run` of a limiter does. */
export const awaitSharedRate = async (rate: SharedRate, deadline: Deadline): Promise<void> => {
  const slot = await rate.reserve(Math.floor(deadline.remainingMs()));
  if (slot === null) return;
  if (!slot.isReserved) throw rateLimited(slot.waitMs);
  if (slot.waitMs > 0) await sleep(slot.waitMs, deadline.signal);
};

type Waiter = { readonly start: () => void };

/** A null `perSecond` means no rate limit. */
export const createRequestLimiter = (
  concurrency: number,
  perSecond: number | null,
  now: Clock = monotonicClock,
): RequestLimiter => {
  const queue = new Set<Waiter>();
  const gapMs = perSecond === null ? 0 : 1000 / perSecond;
  let running = 0;
  let nextStartAt = 0;
  let timer: NodeJS.Timeout | null = null;

  const isFree = () => running < concurrency && timer === null && now() >= nextStartAt;
  const takeSlot = () => {
    nextStartAt = now() + gapMs;
    running += 1;
  };
  const advance = () => {
    for (const next of queue) {
      if (!isFree()) return scheduleNext();
      queue.delete(next);
      takeSlot();
      next.start();
    }
  };
  const scheduleNext = () => {
    if (timer !== null || running >= concurrency) return;
    timer = setTimeout(
      () => {
        timer = null;
        advance();
      },
      // The clock may have passed it since it was compared.
      Math.max(0, Math.ceil(nextStartAt - now())),
    );
  };

  const waitForSlot = async (deadline: Deadline): Promise<void> => {
    const started = Promise.withResolvers<void>();
    const waiter: Waiter = { start: started.resolve };
    queue.add(waiter);
    advance();
    const end = await raceWithTimeout(started.promise, deadline.remainingMs(), deadline.signal);
    // The slot may have become free at the moment of the timeout. Then `task` runs and frees it.
    if (end === 'settled' || !queue.delete(waiter)) return;
    throw end === 'timeout' ? deadlineExceeded() : clientGone();
  };

  return {
    async run(deadline, task) {
      deadline.start();
      const paceMs = nextStartAt - now() + queue.size * gapMs;
      // The margin is for the answer: a slot just before the deadline would be wasted.
      if (paceMs > 0 && paceMs + gapMs > deadline.remainingMs()) throw rateLimited(paceMs);
      if (queue.size === 0 && isFree()) takeSlot();
      else await waitForSlot(deadline);
      try {
        return await task();
      } finally {
        running -= 1;
        advance();
      }
    },
  };
};

const rateLimited = (paceMs: number): UpstreamError =>
  new UpstreamError(
    'rateLimited',
    'The queue of the rate limit is longer than the deadline of the operation.',
    {
      retryAfterMs: Math.ceil(paceMs),
    },
  );

/**
 * The cooldown of each key: after a 429 with Retry-After nothing is sent with the key until that time has passed, whichever
 * operation asks.
 */
export type KeyCooldowns = {
  /** Throws UpstreamError `coolingDown` during a cooldown. */
  assertReady(credential: Credential): void;
  /**
   * Resolves when the cooldown is over, or when the deadline's signal aborts; null without a cooldown. Rejects at once with
   * UpstreamError `coolingDown` when it takes longer than 2 s, or longer than the deadline allows.
   */
  wait(credential: Credential, deadline: Deadline): Promise<void> | null;
  /** Begins a cooldown when the error of an attempt is a 429 with Retry-After. */
  record(credential: Credential, error: unknown): void;
};

/** The cooldowns of several gateways. */
export type SharedCooldowns = {
  /** A name that reveals nothing about the key, the same for all gateways. */
  nameOf(key: string): string;
  /** Tells the others of a cooldown. */
  began(name: string, ms: number): void;
  /** Calls back for each cooldown of another gateway. Resolves once the ones that began earlier are known. */
  listen(onBegan: (name: string, ms: number) => void): Promise<void>;
};

const MAX_KEYS = 10_000;

export const createKeyCooldowns = (
  now: Clock = monotonicClock,
  shared: SharedCooldowns | null = null,
): KeyCooldowns => {
  const nameOf = ({ key }: Credential): string => (shared ? shared.nameOf(key) : digestOf(key));
  const endsAt = new LRUCache<string, number>(atMostEntries(MAX_KEYS));

  const remainingMs = (credential: Credential): number => {
    if (endsAt.size === 0) return 0;
    const name = nameOf(credential);
    const leftMs = (endsAt.get(name) ?? 0) - now();
    if (leftMs <= 0) endsAt.delete(name);
    return Math.max(0, leftMs);
  };

  const untilReady = async (credential: Credential, deadline: Deadline): Promise<void> => {
    // Another attempt may prolong the cooldown.
    for (let leftMs = remainingMs(credential); leftMs > 0; leftMs = remainingMs(credential)) {
      if (leftMs > MAX_WAIT_MS || leftMs >= deadline.remainingMs()) throw coolingDown(leftMs);
      await sleep(leftMs, deadline.signal);
      if (deadline.signal?.aborted) return;
    }
  };

  void shared?.listen((name, ms) => {
    endsAt.set(name, Math.max(endsAt.get(name) ?? 0, now() + Math.min(ms, MAX_COOLDOWN_MS)));
  });

  return {
    assertReady(credential) {
      const leftMs = remainingMs(credential);
      if (leftMs > 0) throw coolingDown(leftMs);
    },
    wait: (credential, deadline) => (remainingMs(credential) > 0 ? untilReady(credential, deadline) : null),
    record(credential, error) {
      if (!(error instanceof UpstreamError) || error.status !== 429) return;
      const cooldownMs = Math.min(error.retryAfterMs ?? 0, MAX_COOLDOWN_MS);
      if (cooldownMs <= remainingMs(credential)) return;
      const name = nameOf(credential);
      endsAt.set(name, now() + cooldownMs);
      shared?.began(name, cooldownMs);
    },
  };
};

/** A digest, so that no key stays in memory. */
const digestOf = (key: string): string => hash('sha256', key);

const coolingDown = (leftMs: number): UpstreamError =>
  new UpstreamError('coolingDown', 'Upstream asked this key to wait (Retry-After).', {
    retryAfterMs: Math.ceil(leftMs),
  });
