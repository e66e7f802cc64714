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
  /** Whether the task may go on: the budget is not exceeded, or the task is the one that goes on although it is. */
  isAvailable(): boolean;
  /** Resolves when the task may go on, or when it is released. */
  available(): Promise<void>;
  /** Returns all bytes to the budget, for good: from then on the task adds no bytes and waits for none. */
  release(): void;
};

/** Slows the tasks of a budget down while memory that they have released is still used elsewhere. */
type Throttle = {
  isOn(): boolean;
  /** How much they may release a second while it is on. */
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
  /** Has the next task wait for as long as bytes that are returned take at the throttle's rate. */
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
