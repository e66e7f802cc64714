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
