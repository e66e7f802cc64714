import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sleep } from '../../lib/abort.ts';
import type { Deadline } from '../../lib/deadline.ts';
import type { Credential } from './credential.ts';
import { MAX_COOLDOWN_MS, UpstreamError } from './errors.ts';
import { MAX_WAIT_MS } from './retry.ts';

/** Which keys the service has told to wait: 429 with Retry-After. Until then nothing is sent with them. */
export type KeyCooldowns = {
  isCoolingDown(credential: Credential): boolean;
  /** Resolves when the key may be used. Rejects at once with UpstreamError `coolingDown` when that is long from now. */
  wait(credential: Credential, deadline: Deadline): Promise<void>;
  /** Takes in what an attempt met. */
  record(credential: Credential, error: unknown): void;
};

const MAX_KEYS = 10_000;

export const createKeyCooldowns = (now: () => number = () => performance.now()): KeyCooldowns => {
  const until = new LRUCache<string, number>({ max: MAX_KEYS });

  const remainingMs = (credential: Credential): number => {
    if (until.size === 0) return 0;
    const name = nameOf(credential);
    const remainingCooldownMs = (until.get(name) ?? 0) - now();
    if (remainingCooldownMs <= 0) until.delete(name);
    return Math.max(0, remainingCooldownMs);
  };

  return {
    isCoolingDown: (credential) => remainingMs(credential) > 0,
    async wait(credential, deadline) {
      for (
        let remainingCooldownMs = remainingMs(credential);
        remainingCooldownMs > 0;
        remainingCooldownMs = remainingMs(credential)
      ) {
        if (remainingCooldownMs > MAX_WAIT_MS || remainingCooldownMs >= deadline.remainingMs())
          throw coolingDown(remainingCooldownMs);
        await sleep(remainingCooldownMs, deadline.signal);
        if (deadline.signal?.aborted) return;
      }
    },
    record(credential, error) {
      if (!(error instanceof UpstreamError) || error.status !== 429) return;
      const remainingCooldownMs = Math.min(error.retryAfterMs ?? 0, MAX_COOLDOWN_MS);
      if (remainingCooldownMs > remainingMs(credential))
        until.set(nameOf(credential), now() + remainingCooldownMs);
    },
  };
};

/** No key is kept. */
const nameOf = ({ key }: Credential): string => hash('sha256', key);

const coolingDown = (remainingCooldownMs: number): UpstreamError =>
  new UpstreamError('coolingDown', 'The service has asked for a rest that is not over.', {
    retryAfterMs: Math.ceil(remainingCooldownMs),
  });
