/** What is under way and will end by itself. */
export type TaskTracker = {
  track<Result>(task: Result): Result;
  /** Resolves when all that is under way now has ended, at the latest after `withinMs`. */
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
    drain: (withinMs) => allSettledWithin(tasks, withinMs),
  };
};

/** Resolves when all tasks have ended, at the latest after `withinMs`. */
export const allSettledWithin = async (
  tasks: Iterable<Promise<unknown>>,
  withinMs: number,
): Promise<void> => {
  const deadline = Promise.withResolvers<void>();
  const timer = setTimeout(deadline.resolve, withinMs);
  await Promise.race([Promise.allSettled(tasks), deadline.promise]);
  clearTimeout(timer);
};
