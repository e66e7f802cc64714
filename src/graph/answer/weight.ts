/** What something takes of an answer's text, and how many values it has. */
export type Weight = { readonly bytes: number; readonly values: number };

const QUOTES = 2;
/** `null`, `true` and `false`, and what most numbers have. */
const WORD = 5;

/** What a leaf takes as JSON; of a string without what has to be escaped, or takes more than a byte a character. */
export const weightOfLeaf = (value: unknown): number =>
  typeof value === 'string' ? value.length + QUOTES : WORD;

/** What any JSON value takes, as `weightOfLeaf` counts. */
export const weightOfJson = (value: unknown): Weight => {
  const left: unknown[] = [value];
  let bytes = 0;
  let values = 0;
  while (left.length > 0) {
    const next = left.pop();
    values += 1;
    bytes += 1;
    if (typeof next !== 'object' || next === null) bytes += weightOfLeaf(next);
    else if (Array.isArray(next)) for (const item of next) left.push(item);
    else
      for (const [key, inner] of Object.entries(next)) {
        bytes += key.length + QUOTES;
        left.push(inner);
      }
  }
  return { bytes, values };
};
