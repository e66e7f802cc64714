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

const SLICE_MS = 2;

export const createRoundRobinScheduler = (options: Options = {}): RoundRobinScheduler => {
  const { sliceMs = SLICE_MS, pauses = false } = options;
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
