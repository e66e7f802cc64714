const texts = new WeakMap<ReadonlySet<string>, string>();

/** Returns a text that is equal for equal sets of words. It is made once per set, which must not change after that. */
export const textOfSet = (words: ReadonlySet<string>): string => {
  const known = texts.get(words);
  if (known !== undefined) return known;
  const text = [...words].sort().join(' ');
  texts.set(words, text);
  return text;
};

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

/** Returns the same function with a memory of its last result, for texts that mostly repeat. */
export const rememberLast = <Result>(compute: (text: string) => Result): ((text: string) => Result) => {
  let last: { readonly text: string; readonly result: Result } | null = null;
  return (text) => {
    if (last?.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
};

/**
 * Returns the same function, whose calls share one promise. After a rejection the next call begins again: what could not be
 * loaded, such as without a free file descriptor, is loaded later.
 */
export const shareResult = <Result>(begin: () => Promise<Result>): (() => Promise<Result>) => {
  let begun: Promise<Result> | null = null;
  return () => {
    begun ??= begin().catch((error: unknown) => {
      begun = null;
      throw error;
    });
    return begun;
  };
};

/**
 * The options of an LRU cache of at most `count` entries. With `max`, each cache reserves the room of all its entries at once:
 * together some 8 MB and 20 ms of each start.
 */
export const atMostEntries = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 });
