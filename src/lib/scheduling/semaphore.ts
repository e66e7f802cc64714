/**
 * A counting semaphore: at most `maxRunning` tasks run at once, and the others wait in the order in which they came.
 * MemoryBudget is the weighted one, for bytes.
 */
export class Semaphore {
  readonly #maxWaiting: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(maxRunning: number, maxWaiting: number) {
    this.#free = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether all places are taken and `maxWaiting` tasks wait. The caller asks before `run`, which refuses no task. */
  get isFull(): boolean {
    return this.#free === 0 && this.#waiting.length >= this.#maxWaiting;
  }

  /** Runs the task once it has a place, and settles as the task does. */
  async run<Value>(task: () => Promise<Value>): Promise<Value> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
