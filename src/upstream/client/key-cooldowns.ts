import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Patience, pause } from '../../lib/deadline.ts';
import type { Credential } from './credential.ts';
import { MAX_REST_MS, UpstreamError } from './errors.ts';
import { MAX_WAIT_MS } from './retry.ts';

/** Which keys the service has told to wait: 429 with Retry-After. Until then nothing is sent with them. */
export type Rests = {
  isResting(credential: Credential): boolean;
  /** Resolves when the key may be used. Rejects at once with UpstreamError `resting` when that is long from now. */
  over(credential: Credential, patience: Patience): Promise<void>;
  /** Takes in what an attempt met. */
  learn(credential: Credential, error: unknown): void;
};

const MAX_KEYS = 10_000;

export const createRests = (now: () => number = () => performance.now()): Rests => {
  const until = new LRUCache<string, number>({ max: MAX_KEYS });

  const remainingMs = (credential: Credential): number => {
    if (until.size === 0) return 0;
    const name = nameOf(credential);
    const restMs = (until.get(name) ?? 0) - now();
    if (restMs <= 0) until.delete(name);
    return Math.max(0, restMs);
  };

  return {
    isResting: (credential) => remainingMs(credential) > 0,
    async over(credential, patience) {
      for (let restMs = remainingMs(credential); restMs > 0; restMs = remainingMs(credential)) {
        if (restMs > MAX_WAIT_MS || restMs >= patience.remainingMs()) throw resting(restMs);
        await pause(restMs, patience.signal);
        if (patience.signal?.aborted) return;
      }
    },
    learn(credential, error) {
      if (!(error instanceof UpstreamError) || error.status !== 429) return;
      const restMs = Math.min(error.retryAfterMs ?? 0, MAX_REST_MS);
      if (restMs > remainingMs(credential)) until.set(nameOf(credential), now() + restMs);
    },
  };
};

/** No key is kept. */
const nameOf = ({ key }: Credential): string => hash('sha256', key);

const resting = (restMs: number): UpstreamError =>
  new UpstreamError('resting', 'The service has asked for a rest that is not over.', {
    retryAfterMs: Math.ceil(restMs),
  });
