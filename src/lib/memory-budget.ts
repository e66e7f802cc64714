import { type Clock, monotonicClock } from './deadlines.ts';

/**
 * A weighted semaphore whose units are bytes. A task whose memory can be refused asks for it with `tryGrow`. A task that
 * holds its memory already reports it with `grow`, and waits for `available` before it goes on.
 */
export type MemoryBudget = {
  /** Adds a task, which holds no bytes at first. */
  reserve(): Reservation;
};

/** The bytes of one task. */
export type Reservation = {
  /**
   * Adds bytes if the budget has room for them; otherwise returns false and adds none. While no other task holds any
   * bytes, the task gets all that it asks for, however small the budget is.
   */
  tryGrow(bytes: number): boolean;
  /** Adds bytes whether or not there is room for them. After `release` it adds none. */
  grow(bytes: number): void;
  /** Returns that many bytes to the budget. */
  shrink(bytes: number): void;
  /** Whether the task may go on: the budget is not exceeded, or this is the one task that may go on anyway. */
  isAvailable(): boolean;
  /** Resolves when the task may go on, or when it is released. */
  available(): Promise<void>;
  /** Returns all bytes to the budget, for good: from then on the task adds no bytes and waits for none. */
  release(): void;
};

/** Slows the tasks of a budget down while the memory that they released is still in use elsewhere. */
type Throttle = {
  isOn(): boolean;
  /** How many bytes per second they may release while it is on. */
  readonly bytesPerSecond: number;
};

const NO_THROTTLE: Throttle = { isOn: () => false, bytesPerSecond: Number.POSITIVE_INFINITY };

/** How soon a throttle that was on is looked at again. */
const THROTTLE_CHECK_MS = 20;

/**
 * While more than `maxBytes` are held, or the throttle is on, the task that has waited longest goes on alone, so that one
 * task always ends.
 */
export const createMemoryBudget = (maxBytes: number, throttle = NO_THROTTLE): MemoryBudget => {
  const waiting = new Map<Reservation, PromiseWithResolvers<void>>();
  let used = 0;
  /** The task that goes on although the budget is exceeded. */
  let privileged: Reservation | null = null;
  /** When the throttle lets the next task go on. */
  let throttledUntil = 0;
  let willCheck = false;

  const isExceeded = (): boolean => used > maxBytes || throttle.isOn();
  const wake = (reservation: Reservation): void => {
    waiting.get(reservation)?.resolve();
    waiting.delete(reservation);
  };
  const advance = (): void => {
    if (!isExceeded()) for (const reservation of [...waiting.keys()]) wake(reservation);
    const [longest] = waiting.keys();
    if (privileged !== null || longest === undefined) return;
    if (performance.now() < throttledUntil && throttle.isOn()) checkLater();
    else {
      privileged = longest;
      wake(longest);
    }
  };
  /** Delays the next task by the time that the returned bytes take at the throttle's rate. */
  const delayNext = (bytes: number): void => {
    throttledUntil = Math.max(throttledUntil, performance.now() + (1000 * bytes) / throttle.bytesPerSecond);
  };
  const checkLater = (): void => {
    if (willCheck) return;
    willCheck = true;
    setTimeout(() => {
      willCheck = false;
      advance();
    }, THROTTLE_CHECK_MS);
  };

  return {
    reserve() {
      let held = 0;
      let isReleased = false;
      const grow = (bytes: number): void => {
        if (isReleased) return;
        held += bytes;
        used += bytes;
      };
      const reservation: Reservation = {
        grow,
        tryGrow(bytes) {
          if (used > held && used + bytes > maxBytes) return false;
          grow(bytes);
          return true;
        },
        shrink(bytes) {
          delayNext(bytes);
          grow(-bytes);
          advance();
        },
        isAvailable: () => isReleased || privileged === reservation || !isExceeded(),
        available() {
          if (reservation.isAvailable()) return Promise.resolve();
          const wait = waiting.get(reservation) ?? Promise.withResolvers<void>();
          waiting.set(reservation, wait);
          advance();
          return wait.promise;
        },
        release() {
          delayNext(held);
          used -= held;
          held = 0;
          isReleased = true;
          if (privileged === reservation) privileged = null;
          wake(reservation);
          advance();
        },
      };
      return reservation;
    },
  };
};

/**
 * Memory for bodies that clients send. Bytes count once they have arrived: what a client announces takes nothing.
 *
 * A client may hold as many bytes as are free (dynamic thresholds, Choudhury and Hahne 1998). So one client alone gets half
 * of the memory, several get equal shares, and there is always room for one more. If there is no room for a body, stalled
 * ones are evicted, provided that this makes enough room: its client's own first, then those of others. A body that still
 * makes progress is never evicted, so there is no livelock, and none waits for another, so there is no deadlock.
 */
export type FairMemory = {
  /**
   * Adds a body of the client, which holds no bytes at first. `evict` is called, at most once, when its bytes were given to
   * others, and must forget the body. A body without `evict` has already arrived.
   */
  hold(client: string, evict?: () => void): HeldMemory;
};

/** The bytes of one body. */
export type HeldMemory = {
  /** Adds bytes if there is room for them; otherwise returns false and adds none. */
  tryGrow(bytes: number): boolean;
  /** The whole body has arrived and can no longer be evicted. */
  arrived(): void;
  /** Returns all bytes, for good. */
  release(): void;
};

/** What a body has to receive in time, or it counts as stalled. */
const STEP_BYTES = 64 * 1024;

/** A body that is still arriving. */
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
  /** How many bytes must be freed before the client may have these; 0 or less if there is room. */
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
