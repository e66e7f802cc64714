import { LRUCache } from 'lru-cache';
import type { Deadline } from '../lib/deadlines.ts';
import { atMostEntries } from '../lib/values.ts';
import { type SharedRequest, startShared } from '../upstream/cache/single-flight.ts';

/** A cache of the keys that upstream has accepted, so that not every use of a key is a request. */
export type VerifiedKeys = {
  /**
   * Resolves at once if `request` has resolved for this key within the last hour, otherwise when `request` does. Concurrent
   * callers of one key share one request (single-flight). Rejects as `request` does, which is not cached, or with
   * UpstreamError `timeout` when the deadline ends. `keyId` identifies the key and is not the key itself. The signal aborts
   * when no caller waits any longer.
   */
  verify(keyId: string, deadline: Deadline, request: (signal: AbortSignal) => Promise<void>): Promise<void>;
};

/** The keys that other gateways have verified. Its methods never reject. */
export type SharedKeys = {
  /** Resolves with the milliseconds for which the key still counts as verified; 0 if it does not. */
  verifiedForMs(keyId: string): Promise<number>;
  /** Makes the key count as verified for this time, in milliseconds. */
  add(keyId: string, ms: number): Promise<void>;
};

const VERIFIED_MS = 3_600_000;

/** The cache evicts the least recently used key above this number. Upstream is then asked about it again. */
const MAX_KEYS = 10_000;

export const createVerifiedKeys = (
  now: () => number = () => performance.now(),
  shared: SharedKeys | null = null,
): VerifiedKeys => {
  const verifiedAt = new LRUCache<string, number>(atMostEntries(MAX_KEYS));
  const inFlight = new Map<string, SharedRequest<void>>();

  const isVerified = (keyId: string): boolean => {
    const at = verifiedAt.get(keyId);
    return at !== undefined && now() - at < VERIFIED_MS;
  };

  const verifyAnywhere = async (keyId: string, request: () => Promise<void>): Promise<void> => {
    const leftMs = shared ? await shared.verifiedForMs(keyId) : 0;
    if (leftMs > 0) return void verifiedAt.set(keyId, now() - VERIFIED_MS + leftMs);
    await request();
    verifiedAt.set(keyId, now());
    await shared?.add(keyId, VERIFIED_MS);
  };

  const start = (keyId: string, request: (signal: AbortSignal) => Promise<void>): SharedRequest<void> => {
    const sharedRequest = startShared((signal) =>
      verifyAnywhere(keyId, () => request(signal)).finally(() => {
        if (inFlight.get(keyId) === sharedRequest) inFlight.delete(keyId);
      }),
    );
    inFlight.set(keyId, sharedRequest);
    return sharedRequest;
  };

  return {
    async verify(keyId, deadline, request) {
      if (isVerified(keyId)) return;
      const shared = inFlight.get(keyId);
      await (shared && !shared.isAbandoned ? shared : start(keyId, request)).join(deadline);
    },
  };
};
