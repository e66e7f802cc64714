/**
 * A counting semaphore: at most `maxRunning` tasks run at once. Clients whose tasks wait take turns (round-robin), so that
 * one with many tasks delays another by one task at a time. The tasks of a client run in the order in which they came.
 * MemoryBudget is the weighted one, for bytes.
 */
export class Semaphore {
  readonly #maxWaiting: number;
  #free: number;
  #waiting = 0;
  /** The first client has the next turn. */
  readonly #queues = new Map<string, (() => void)[]>();

  constructor(maxRunning: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#free = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether all places are taken and `maxWaiting` tasks wait. The caller asks before `run`, which refuses no task. */
  get isFull(): boolean {
    return this.#free === 0 && this.#waiting >= this.#maxWaiting;
  }

  /** Runs the task once it has a place, and settles as the task does. */
  async run<Value>(client: string, task: () => Promise<Value>): Promise<Value> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#enqueue(client, resolve));
    try {
      return await task();
    } finally {
      const next = this.#dequeue();
      if (next) next();
      else this.#free += 1;
    }
  }

  #enqueue(client: string, start: () => void): void {
    this.#waiting += 1;
    const queue = this.#queues.get(client);
    if (queue) queue.push(start);
    else this.#queues.set(client, [start]);
  }

  #dequeue(): (() => void) | undefined {
    const [next] = this.#queues;
    if (next === undefined) return undefined;
    const [client, queue] = next;
    this.#waiting -= 1;
    this.#queues.delete(client);
    const start = queue.shift();
    if (queue.length > 0) this.#queues.set(client, queue);
    return start;
  }
}
