/** Of a segment's deliveries those with one term: how far each is behind the segment's first, in 4 bytes. */
export const packPostings = (sequences: readonly number[], first: number): Uint8Array =>
  new Uint8Array(Uint32Array.from(sequences, (sequence) => sequence - first).buffer);

export const unpackPostings = (bytes: Uint8Array, first: number): number[] =>
  // Copied, as numbers of 4 bytes must begin where SQLite's bytes need not.
  Array.from(new Uint32Array(bytes.slice().buffer), (offset) => first + offset);
