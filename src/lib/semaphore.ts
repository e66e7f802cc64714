/** A limit of tasks, where MemoryBudget and MemoryGate are limits of bytes: few run at a time, the others wait in order. */
export class Semaphore {
  readonly #maxWaiting: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(maxRunning: number, maxWaiting: number) {
    this.#free = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether a task that comes now would be one more than may wait. */
  get isFull(): boolean {
    return this.#free === 0 && this.#waiting.length >= this.#maxWaiting;
  }

  /** What the task resolves or rejects with, once it has had its turn. */
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
