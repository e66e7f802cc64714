/** Runs the tasks of one key one after another, in the order of asking; those of different keys side by side. */
export type InOrder = <Answer>(key: string, task: () => Promise<Answer>) => Promise<Answer>;

/**
 * Changes of one webhook must reach the service in the order in which they came: side by side, the retry of an
 * older one could undo a newer one. A task that fails fails alone.
 */
export const createInOrder = (): InOrder => {
  const last = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const done = (last.get(key) ?? Promise.resolve()).then(task, task);
    last.set(key, done);
    const leave = () => {
      if (last.get(key) === done) last.delete(key);
    };
    done.then(leave, leave);
    return done;
  };
};
