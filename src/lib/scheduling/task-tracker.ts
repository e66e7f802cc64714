/** The tasks that are under way and end by themselves. */
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
