/** The message of an error, or the text of another thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The stack of an error, which begins with its message, or the text of another thrown value. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** The same text in one piece. V8 keeps one that was joined, such as a random UUID, as the tree of its parts. */
export const flattened = (text: string): string => Buffer.from(text).toString();

/** The headers of a request, or what a client sends in their place, by their names in any letter case. */
export type RequestHeaders = { get(name: string): string | null };

/** A value, or a promise of it. A caller that gets the value goes on without waiting. */
export type MaybePromise<Value> = Value | Promise<Value>;

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
 * The options of an LRU cache of at most `count` entries. With `max`, each cache reserves the room of all its entries at once:
 * together some 8 MB and 20 ms of each start.
 */
export const atMostEntries = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 });
