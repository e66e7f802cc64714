/** Work that may be interrupted wherever it yields. */
export type Steps<Result> = Generator<void, Result>;

/** Runs until the time is over, and says whether it has ended. */
type Task = (until: number) => boolean;

/** Milliseconds for which the thread's other work waits at most, if steps are short. */
const SLICE_MS = 2;

/**
 * Runs generators in slices of 2 ms, by itself, where TimeSlices tells async functions when to wait: for a worker thread
 * whose whole work these tasks are. Callers take turns, and so do the tasks of one caller. A caller with many long tasks
 * delays the others by one slice at a time.
 */
export class FairScheduler {
  /** In the order of their turns. */
  readonly #tasks = new Map<string, Task[]>();
  #isRunning = false;

  /** Runs `work` in one step. Rejects with the signal's reason when it has aborted by then. */
  run<Result>(caller: string, work: () => Result, signal?: AbortSignal): Promise<Result> {
    return this.runSteps(caller, oneStep(work), signal);
  }

  /** Resolves with what the steps return. Once `signal` aborts no step is run any more: rejects with its reason. */
  runSteps<Result>(caller: string, steps: Steps<Result>, signal?: AbortSignal): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#add(caller, (until) => {
      try {
        do {
          signal?.throwIfAborted();
          const { done, value } = steps.next();
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
    });
    return promise;
  }

  #add(caller: string, task: Task): void {
    const tasks = this.#tasks.get(caller);
    if (tasks === undefined) this.#tasks.set(caller, [task]);
    else tasks.push(task);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#runSlice);
  }

  readonly #runSlice = (): void => {
    const until = performance.now() + SLICE_MS;
    do this.#runNext(until);
    while (this.#tasks.size > 0 && performance.now() < until);
    this.#isRunning = this.#tasks.size > 0;
    if (this.#isRunning) setImmediate(this.#runSlice);
  };

  #runNext(until: number): void {
    const [next] = this.#tasks;
    if (next === undefined) return;
    const [caller, tasks] = next;
    const task = tasks.shift();
    if (task && !task(until)) tasks.push(task);
    // To the end of the turns.
    this.#tasks.delete(caller);
    if (tasks.length > 0) this.#tasks.set(caller, tasks);
  }
}

function* oneStep<Result>(work: () => Result): Steps<Result> {
  yield;
  return work();
}
