const texts = new WeakMap<ReadonlySet<string>, string>();

/** Returns a text that is the same for sets of the same words. It is made once: the set must not change any more. */
export const textOfSet = (words: ReadonlySet<string>): string => {
  const known = texts.get(words);
  if (known !== undefined) return known;
  const text = [...words].sort().join(' ');
  texts.set(words, text);
  return text;
};
