/** What a JSON value counts as at least: its text may have two bytes, and it takes memory wherever it is parsed. */
const VALUE_BYTES = 16;

/**
 * The size of a JSON text, in bytes, as clients limit it: this project's gateway counts both bytes and values. A text of this size
 * has a sixteenth as many values at most.
 */
export const sizeOfJson = (json: string): number => {
  let values = 1;
  for (let at = json.indexOf(','); at !== -1; at = json.indexOf(',', at + 1)) values += 1;
  return Math.max(Buffer.byteLength(json), values * VALUE_BYTES);
};
