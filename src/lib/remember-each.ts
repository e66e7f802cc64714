/** Returns the same function, which remembers its result for each object as long as the object lives. */
export const rememberEach = <Key extends WeakKey, Result extends NonNullable<unknown>>(
  compute: (key: Key) => Result,
): ((key: Key) => Result) => {
  const known = new WeakMap<Key, Result>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const result = compute(key);
    known.set(key, result);
    return result;
  };
};
