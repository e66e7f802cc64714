/** Returns the same function, which remembers its last result: for a text that is mostly the one before. */
export const rememberLast = <Result>(compute: (text: string) => Result): ((text: string) => Result) => {
  let last: { readonly text: string; readonly result: Result } | null = null;
  return (text) => {
    if (last?.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
};
