/** Runs the tasks of one key one after another, in the order of asking; those of different keys side by side. */
export type KeyedQueue = <Answer>(key: string, task: () => Promise<Answer>) => Promise<Answer>;

/**
 * Changes of one thing must reach the service in the order in which they came: side by side, the retry of an older one
 * could undo a newer one. A task that fails fails alone.
 */
export const createKeyedQueue = (): KeyedQueue => {
  const last = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const before = last.get(key) ?? Promise.resolve();
    const answer = before.then(task, task);
    last.set(key, answer);
    const forget = () => {
      if (last.get(key) === answer) last.delete(key);
    };
    answer.then(forget, forget);
    return answer;
  };
};
