/**
 * Cooperative time slicing for async functions: work asks `isOver` between its steps, and awaits `next` once that is true.
 * Works that use the same TimeSlices share each slice: however many there are, they block the event loop for one slice at
 * a time. A work that runs beside few others has TimeSlices of its own.
 *
 * `createRoundRobinScheduler` is for tasks that are generators: it calls them by itself.
 */
export type TimeSlices = {
  /** Whether the works of this turn of the event loop have used up its slice. */
  isOver(): boolean;
  /**
   * Resolves when the owner's next slice begins. Owners take turns (round-robin). The works of one owner go on in the
   * order in which they began to wait. Default: an owner that all such calls share.
   */
  next(owner?: object): Promise<void>;
};

/** Short enough for no client to notice, and long beside a turn of the event loop. */
const SLICE_MS = 10;

const DEFAULT_OWNER = {};

export const createTimeSlices = (
  sliceMs = SLICE_MS,
  now: () => number = () => performance.now(),
): TimeSlices => {
  const waiting = new Map<object, (() => void)[]>();
  /** Null until a work asks in this turn of the event loop. */
  let startedAt: number | null = null;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(startSlice);
  };
  const takeWaiting = (): (() => void) | undefined => {
    for (const [owner, queue] of waiting) {
      waiting.delete(owner);
      const resume = queue.shift();
      if (queue.length > 0) waiting.set(owner, queue);
      return resume;
    }
    return undefined;
  };
  /** Resumes one work alone, and the next one once that waits for something else, while the slice lasts. */
  const resumeNext = (): void => {
    const resume = takeWaiting();
    if (resume === undefined) return;
    startedAt ??= now();
    schedule();
    resume();
    // The tick comes after all microtasks, and so after the steps of the work.
    queueMicrotask(() => process.nextTick(() => isSpent() || resumeNext()));
  };
  const startSlice = (): void => {
    isScheduled = false;
    startedAt = null;
    resumeNext();
  };
  const isSpent = (): boolean => startedAt !== null && now() - startedAt >= sliceMs;

  return {
    isOver() {
      if (startedAt !== null) return isSpent();
      startedAt = now();
      schedule();
      return false;
    },
    next(owner = DEFAULT_OWNER) {
      return new Promise((resolve) => {
        const queue = waiting.get(owner);
        if (queue) queue.push(resolve);
        else waiting.set(owner, [resolve]);
        schedule();
      });
    },
  };
};
