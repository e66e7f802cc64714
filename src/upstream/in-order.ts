/** Runs one task of a name after the other, in the order in which they came; tasks of different names side by side. */
export type InOrder = <Answer>(name: string, task: () => Promise<Answer>) => Promise<Answer>;

export const createInOrder = (): InOrder => {
  const last = new Map<string, Promise<unknown>>();
  return (name, task) => {
    const before = last.get(name) ?? Promise.resolve();
    const answer = before.then(task, task);
    last.set(name, answer);
    const forget = () => {
      if (last.get(name) === answer) last.delete(name);
    };
    answer.then(forget, forget);
    return answer;
  };
};
