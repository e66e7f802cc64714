/** A task that may be interrupted at each `yield`. */
export type Steps<Result> = Generator<void, Result>;

/**
 * Runs tasks that have the event loop to themselves for one slice at a time. Callers take turns (round-robin), and so do
 * the tasks of one caller. A caller with many long tasks delays the others by one slice at a time.
 *
 * The scheduler calls its tasks; `createTimeSlices` is for async functions that something else calls.
 */
export type RoundRobinScheduler = {
  /** Runs `work` in one step and resolves with its result. Rejects with the signal's reason if it aborts before that. */
  run<Result>(caller: string, work: () => Result, signal?: AbortSignal): Promise<Result>;
  /** Resolves with the return value of the steps. After `signal` aborts no further step runs: rejects with its reason. */
  runSteps<Result>(caller: string, steps: Steps<Result>, signal?: AbortSignal): Promise<Result>;
};

type Options = {
  /** Milliseconds after which tasks are interrupted. 0: each slice is one step. Default: 2. */
  readonly sliceMs?: number;
  /** Whether each slice is followed by a pause of the same length, so that tasks use at most half of the thread. Default: false. */
  readonly pauses?: boolean;
};

/** Runs until `until`, at least for one step, and returns whether the task has ended. */
type Task = (until: number) => boolean;

const SCHEDULED_SLICE_MS = 2;

export const createRoundRobinScheduler = (options: Options = {}): RoundRobinScheduler => {
  const { sliceMs = SCHEDULED_SLICE_MS, pauses = false } = options;
  /** The first caller has the next turn. */
  const queues = new Map<string, Task[]>();
  let isRunning = false;

  const runNext = (until: number): void => {
    const [next] = queues;
    if (next === undefined) return;
    const [caller, queue] = next;
    const task = queue.shift();
    if (task && !task(until)) queue.push(task);
    queues.delete(caller);
    if (queue.length > 0) queues.set(caller, queue);
  };
  const runSlice = (): void => {
    const startedAt = performance.now();
    const until = startedAt + sliceMs;
    do runNext(until);
    while (queues.size > 0 && performance.now() < until);
    if (pauses) setTimeout(scheduleSlice, performance.now() - startedAt);
    else scheduleSlice();
  };
  const scheduleSlice = (): void => {
    isRunning = queues.size > 0;
    if (isRunning) setImmediate(runSlice);
  };

  const enqueue = <Result>(
    caller: string,
    step: () => IteratorResult<void, Result>,
    signal?: AbortSignal,
  ): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const task: Task = (until) => {
      try {
        do {
          signal?.throwIfAborted();
          const { done, value } = step();
          if (done) {
            resolve(value);
            return true;
          }
        } while (performance.now() < until);
        return false;
      } catch (error) {
        reject(error);
        return true;
      }
    };
    const queue = queues.get(caller);
    if (queue) queue.push(task);
    else queues.set(caller, [task]);
    if (!isRunning) scheduleSlice();
    return promise;
  };

  return {
    run: (caller, work, signal) => enqueue(caller, () => ({ done: true, value: work() }), signal),
    runSteps: (caller, steps, signal) => enqueue(caller, () => steps.next(), signal),
  };
};

/**
 * Cooperative time slicing for async functions: work asks `isOver` between its steps, and awaits `next` once that is true.
 * Works that use the same TimeSlices share each slice: however many there are, they block the event loop for one slice at a
 * time. Work that runs beside few others has TimeSlices of its own.
 *
 * Tasks that are generators are scheduled by `createRoundRobinScheduler`, which calls them.
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

/** Too short for a client to notice, and long compared with a turn of the event loop. */
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
  /** Resumes one work at a time: the next one when the first waits for something else, until the slice is over. */
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
