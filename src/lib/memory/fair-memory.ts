import { type Clock, monotonicClock } from '../clock.ts';

/**
 * Memory for bodies that clients send. Bytes count once they have arrived: what a client announces takes nothing.
 *
 * A client may hold as many bytes as are free (dynamic thresholds, Choudhury and Hahne 1998). So one client alone gets half
 * of the memory, several get equal shares, and there is always room for one more. Where a body finds no room, those that
 * have stalled are evicted for it, whoever sends them: a body that still makes progress is never evicted, so there is no
 * livelock, and none waits for another, so there is no deadlock.
 */
export type FairMemory = {
  /**
   * Adds a body of the client, which holds no bytes at first. `evict` is called, at most once, when its bytes were returned
   * for others: it must forget the body. A body without `evict` has arrived already.
   */
  hold(client: string, evict?: () => void): HeldMemory;
};

/** The bytes of one body. */
export type HeldMemory = {
  /** Adds bytes if there is room for them; otherwise returns false and adds none. */
  tryGrow(bytes: number): boolean;
  /** The whole body is here: it can't be evicted any more. */
  arrived(): void;
  /** Returns all bytes, for good. */
  release(): void;
};

/** What a body has to get in time so that it does not stall. */
const STEP_BYTES = 64 * 1024;

type Arriving = { sinceMs: number; readonly evict: () => void };

type Options = {
  /** What one client alone may hold. All clients together may hold twice as much. */
  readonly maxBytes: number;
  /** A body has stalled once it gets less than 64 KB in so many milliseconds. */
  readonly stallMs: number;
  readonly now?: Clock;
};

export const createFairMemory = ({ maxBytes, stallMs, now = monotonicClock }: Options): FairMemory => {
  const heldBy = new Map<string, number>();
  /** Longest without progress first. */
  const arriving = new Set<Arriving>();
  let free = 2 * maxBytes;

  const add = (client: string, bytes: number): void => {
    free -= bytes;
    const held = (heldBy.get(client) ?? 0) + bytes;
    if (held === 0) heldBy.delete(client);
    else heldBy.set(client, held);
  };
  const hasRoom = (client: string, bytes: number): boolean =>
    (heldBy.get(client) ?? 0) + bytes <= free - bytes;
  const evictStalled = (except: Arriving | null): boolean => {
    for (const body of arriving) {
      if (now() - body.sinceMs < stallMs) return false;
      if (body === except) continue;
      body.evict();
      return true;
    }
    return false;
  };

  return {
    hold(client, evict) {
      let held = 0;
      let steps = 0;
      let isReleased = false;
      const release = (): void => {
        if (body) arriving.delete(body);
        add(client, -held);
        held = 0;
        isReleased = true;
      };
      const body: Arriving | null = evict
        ? {
            sinceMs: now(),
            evict() {
              release();
              evict();
            },
          }
        : null;
      if (body) arriving.add(body);
      return {
        tryGrow(bytes) {
          while (!isReleased && !hasRoom(client, bytes)) if (!evictStalled(body)) return false;
          if (isReleased) return false;
          add(client, bytes);
          held += bytes;
          const reached = Math.floor(held / STEP_BYTES);
          if (body && reached > steps && arriving.delete(body)) {
            steps = reached;
            body.sinceMs = now();
            arriving.add(body);
          }
          return true;
        },
        arrived() {
          if (body) arriving.delete(body);
        },
        release,
      };
    },
  };
};
