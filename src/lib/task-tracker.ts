/** What is under way and will end by itself. */
export type Running = {
  track<Result>(task: Result): Result;
  /** Resolves when all that is under way now has ended, at the latest after `withinMs`. */
  drained(withinMs: number): Promise<void>;
};

export const createRunning = (): Running => {
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
    drained: (withinMs) => settled(tasks, withinMs),
  };
};

/** Resolves when all tasks have ended, at the latest after `withinMs`. */
export const settled = async (tasks: Iterable<Promise<unknown>>, withinMs: number): Promise<void> => {
  const deadline = Promise.withResolvers<void>();
  const timer = setTimeout(deadline.resolve, withinMs);
  await Promise.race([Promise.allSettled(tasks), deadline.promise]);
  clearTimeout(timer);
};
