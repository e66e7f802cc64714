import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sleep } from '../../lib/abort.ts';
import { type Clock, monotonicClock } from '../../lib/clock.ts';
import type { Deadline } from '../../lib/deadline.ts';
import { MAX_COOLDOWN_MS, UpstreamError } from './errors.ts';
import type { Credential } from './request-scope.ts';
import { MAX_WAIT_MS } from './retry.ts';

/**
 * The cooldown of each key: after a 429 with Retry-After nothing is sent with the key until that time has passed, whichever
 * operation asks.
 */
export type KeyCooldowns = {
  /** Throws UpstreamError `coolingDown` during a cooldown. */
  assertReady(credential: Credential): void;
  /**
   * Resolves when the cooldown is over, or when the deadline's signal aborts. Rejects at once with UpstreamError
   * `coolingDown` when it takes longer than 2 s, or longer than the deadline allows.
   */
  wait(credential: Credential, deadline: Deadline): Promise<void>;
  /** Begins a cooldown when the error of an attempt is a 429 with Retry-After. */
  record(credential: Credential, error: unknown): void;
};

/** The cooldowns of several gateways. */
export type SharedCooldowns = {
  /** A name that shows nothing of the key, the same for all gateways. */
  nameOf(key: string): string;
  /** Tells the others of a cooldown. */
  began(name: string, ms: number): void;
  /** Calls back for each cooldown of another gateway. Resolves once those are known that began before. */
  listen(onBegan: (name: string, ms: number) => void): Promise<void>;
};

const MAX_KEYS = 10_000;

export const createKeyCooldowns = (
  now: Clock = monotonicClock,
  shared: SharedCooldowns | null = null,
): KeyCooldowns => {
  const nameOf = ({ key }: Credential): string => (shared ? shared.nameOf(key) : digestOf(key));
  const endsAt = new LRUCache<string, number>({ max: MAX_KEYS });

  const remainingMs = (credential: Credential): number => {
    if (endsAt.size === 0) return 0;
    const name = nameOf(credential);
    const leftMs = (endsAt.get(name) ?? 0) - now();
    if (leftMs <= 0) endsAt.delete(name);
    return Math.max(0, leftMs);
  };

  void shared?.listen((name, ms) => {
    endsAt.set(name, Math.max(endsAt.get(name) ?? 0, now() + Math.min(ms, MAX_COOLDOWN_MS)));
  });

  return {
    assertReady(credential) {
      const leftMs = remainingMs(credential);
      if (leftMs > 0) throw coolingDown(leftMs);
    },
    async wait(credential, deadline) {
      // Another attempt may prolong the cooldown meanwhile.
      for (let leftMs = remainingMs(credential); leftMs > 0; leftMs = remainingMs(credential)) {
        if (leftMs > MAX_WAIT_MS || leftMs >= deadline.remainingMs()) throw coolingDown(leftMs);
        await sleep(leftMs, deadline.signal);
        if (deadline.signal?.aborted) return;
      }
    },
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
