/** A task of one owner that waits for its turn. */
type QueuedTask = { readonly owner: string; readonly run: () => void };

/**
 * Runs whole tasks one at a time, where FairScheduler and TimeSlices cut theirs: for tasks that can't be interrupted.
 * After each it rests for as long as the task took, so that all tasks take at most half of the event loop. Owners take
 * turns, however many tasks each of them has waiting.
 */
export class FairQueue {
  readonly #queues = new Map<string, QueuedTask[]>();
  #isBusy = false;

  /** Resolves to what the task gives, or rejects with what it throws, once it had its turn. */
  run<Result>(owner: string, task: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(task());
        } catch (error) {
          reject(error);
        }
      };
      if (!this.#isBusy) return this.#start(run);
      const queue = this.#queues.get(owner);
      if (queue) queue.push({ owner, run });
      else this.#queues.set(owner, [{ owner, run }]);
    });
  }

  #start(run: () => void): void {
    this.#isBusy = true;
    const startedAt = performance.now();
    run();
    setTimeout(this.#startNext, performance.now() - startedAt);
  }

  readonly #startNext = (): void => {
    this.#isBusy = false;
    for (const [owner, queue] of this.#queues) {
      this.#queues.delete(owner);
      const next = queue.shift();
      // Behind the others.
      if (queue.length > 0) this.#queues.set(owner, queue);
      if (next) this.#start(next.run);
      return;
    }
  };
}
