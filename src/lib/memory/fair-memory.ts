import { type Clock, monotonicClock } from '../clock.ts';

/**
 * Memory for bodies that clients send. Bytes count once they have arrived: what a client announces takes nothing.
 *
 * A client may hold as many bytes as are free (dynamic thresholds, Choudhury and Hahne 1998). So one client alone gets half
 * of the memory, several get equal shares, and there is always room for one more. Where a body finds no room, those that
 * have stalled are evicted for it if that makes enough room: its client's own first, then those of others. A body that still
 * makes progress is never evicted, so there is no livelock, and none waits for another, so there is no deadlock.
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

/** A body of which some bytes are here, and others are to come. */
type Arriving = {
  readonly client: string;
  held: number;
  /** When it last got a step, or its first byte. */
  sinceMs: number;
  readonly evict: () => void;
};

type Options = {
  /** What one client alone may hold. All clients together may hold twice as much. */
  readonly maxBytes: number;
  /** A body that gets less than 64 KB in this time, in milliseconds, has stalled. */
  readonly stallMs: number;
  readonly now?: Clock;
};

export const createFairMemory = ({ maxBytes, stallMs, now = monotonicClock }: Options): FairMemory => {
  const heldBy = new Map<string, number>();
  /** Those that hold bytes, the longest without progress first. */
  const arriving = new Set<Arriving>();
  let free = 2 * maxBytes;

  const add = (client: string, bytes: number): void => {
    free -= bytes;
    const held = (heldBy.get(client) ?? 0) + bytes;
    if (held === 0) heldBy.delete(client);
    else heldBy.set(client, held);
  };
  /** How many bytes are to be freed before the client may have these; at most 0 where there is room. */
  const missingFor = (client: string, bytes: number): number =>
    (heldBy.get(client) ?? 0) + bytes - (free - bytes);
  const stalledBodies = (): Arriving[] => {
    const stalled: Arriving[] = [];
    for (const body of arriving) {
      if (now() - body.sinceMs < stallMs) break;
      stalled.push(body);
    }
    return stalled;
  };
  /** Evicts stalled bodies until the client has room, or none if evicting all of them would not make enough. */
  const makeRoom = (client: string, bytes: number, except: Arriving | null): void => {
    let missing = missingFor(client, bytes);
    const stalled = stalledBodies().filter((body) => body !== except);
    const own = stalled.filter((body) => body.client === client);
    const others = stalled.filter((body) => body.client !== client);
    const evicted: Arriving[] = [];
    for (const body of [...own, ...others]) {
      if (missing <= 0) break;
      // A byte of its own counts twice: the client then holds less, and more is free.
      missing -= body.client === client ? 2 * body.held : body.held;
      evicted.push(body);
    }
    if (missing <= 0) for (const body of evicted) body.evict();
  };

  return {
    hold(client, evict) {
      let held = 0;
      let steps = -1;
      let isReleased = false;
      const release = (): void => {
        if (body) arriving.delete(body);
        add(client, -held);
        held = 0;
        isReleased = true;
      };
      let body: Arriving | null = evict
        ? {
            client,
            held: 0,
            sinceMs: 0,
            evict() {
              if (isReleased) return;
              release();
              evict();
            },
          }
        : null;
      return {
        tryGrow(bytes) {
          if (!isReleased && missingFor(client, bytes) > 0) makeRoom(client, bytes, body);
          if (isReleased || missingFor(client, bytes) > 0) return false;
          add(client, bytes);
          held += bytes;
          if (!body) return true;
          body.held = held;
          const reached = Math.floor(held / STEP_BYTES);
          if (reached > steps) {
            steps = reached;
            body.sinceMs = now();
            arriving.delete(body);
            arriving.add(body);
          }
          return true;
        },
        arrived() {
          if (body) arriving.delete(body);
          body = null;
        },
        release,
      };
    },
  };
};
