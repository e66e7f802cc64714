/**
 * Cuts all long work of a thread into slices that its owners take in turn, where TimeSlice cuts one piece of work by
 * itself: however many pieces run, the event loop is held for one slice at a time.
 */
export type TimeSlices = {
  /** Whether what runs in this turn of the event loop has run for a slice, and should wait for its next one. */
  isOver(): boolean;
  /**
   * Resolves when the owner's next slice begins. Owners take turns, whatever they wait for; what one owner waits for
   * goes on in the order in which it began to wait.
   */
  next(owner: object): Promise<void>;
};

/** Well below what a client would notice, and long beside a turn of the event loop. */
const SLICE_MS = 10;

export const createTimeSlices = (
  sliceMs = SLICE_MS,
  now: () => number = () => performance.now(),
): TimeSlices => {
  const waiting = new Map<object, (() => void)[]>();
  /** Null until something asks in this turn of the event loop. */
  let beganAt: number | null = null;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(turn);
  };
  /** What is let go on runs as soon as this returns, so one at a time: the next may find the slice used up. */
  const turn = (): void => {
    isScheduled = false;
    beganAt = null;
    for (const [owner, queue] of waiting) {
      waiting.delete(owner);
      const goOn = queue.shift();
      if (queue.length > 0) waiting.set(owner, queue);
      beganAt = now();
      schedule();
      goOn?.();
      return;
    }
  };

  return {
    isOver() {
      if (beganAt !== null) return now() - beganAt >= sliceMs;
      beganAt = now();
      schedule();
      return false;
    },
    next(owner) {
      return new Promise((resolve) => {
        const queue = waiting.get(owner);
        if (queue) queue.push(resolve);
        else waiting.set(owner, [resolve]);
        schedule();
      });
    },
  };
};
