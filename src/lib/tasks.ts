/** Runs the tasks of one key one after another, in the order of the calls. Tasks of different keys run concurrently. */
export type KeyedQueue = <Answer>(key: string, task: () => Promise<Answer>) => Promise<Answer>;

/**
 * Keeps the changes of one resource in their order: run concurrently, the retry of an older change could undo a newer one.
 * A task that fails does not affect the next one.
 */
export const createKeyedQueue = (): KeyedQueue => {
  const last = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const previous = last.get(key) ?? Promise.resolve();
    const answer = previous.then(task, task);
    last.set(key, answer);
    const forget = () => {
      if (last.get(key) === answer) last.delete(key);
    };
    answer.then(forget, forget);
    return answer;
  };
};

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

  /** Whether all places are taken and `maxWaiting` tasks are waiting. `run` itself never refuses a task. */
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

/** Tasks in progress that nobody stops. */
export type TaskTracker = {
  /** Tracks `task` until it settles, and returns it. */
  track<Result>(task: Result): Result;
  /** Resolves when all tasks that are under way now have settled, at the latest after `withinMs`. */
  drain(withinMs: number): Promise<void>;
};

export const createTaskTracker = (): TaskTracker => {
  const tasks = new Set<Promise<unknown>>();
  return {
    track(task) {
      if (task instanceof Promise) {
        tasks.add(task);
        const done = () => tasks.delete(task);
        task.then(done, done);
      }
      return task;
    },
    async drain(withinMs) {
      await settlesWithin(tasks, withinMs);
    },
  };
};

/** Waits until all tasks have settled, at most `ms` milliseconds. Resolves to whether they have. */
export const settlesWithin = async (tasks: Iterable<Promise<unknown>>, ms: number): Promise<boolean> => {
  const { promise: timeout, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  const settled = Promise.allSettled(tasks).then(() => true);
  try {
    return await Promise.race([settled, timeout]);
  } finally {
    clearTimeout(timer);
  }
};

/** The callbacks of one slice run in one turn of the event loop. */
const SLICE_MS = 100;

/**
 * Calls each of many callbacks once in an interval, spread evenly over the interval (a timing wheel). Separate intervals
 * drift together: once the event loop was blocked, all due callbacks run in one turn from then on.
 */
export type StaggeredInterval = {
  /** Calls `callback` in each interval, until the returned function is called. */
  add(callback: () => void): () => void;
  stop(): void;
};

/** Its timer does not keep the process alive. */
export const createStaggeredInterval = (everyMs: number): StaggeredInterval => {
  const slices = Array.from({ length: Math.ceil(everyMs / SLICE_MS) }, () => new Set<() => void>());
  let added = 0;
  let current = 0;
  const timer = setInterval(() => {
    for (const callback of slices[current] ?? []) callback();
    current = (current + 1) % slices.length;
  }, everyMs / slices.length).unref();
  return {
    add(callback) {
      const slice = slices[added % slices.length];
      added += 1;
      slice?.add(callback);
      return () => slice?.delete(callback);
    },
    stop: () => clearInterval(timer),
  };
};

/** A value, or a promise of it. A caller that gets the value goes on without waiting. */
export type MaybePromise<Value> = Value | Promise<Value>;
