const BYTES_EACH = 4;

/** Of a segment's deliveries those with one term: how far each is behind the segment's first, in 4 bytes. */
export const packPostings = (sequences: readonly number[], first: number): Uint8Array =>
  new Uint8Array(Uint32Array.from(sequences, (sequence) => sequence - first).buffer);

/** How far each is behind the segment's first, in their order. */
export const unpackPostings = (bytes: Uint8Array): Uint32Array =>
  // Numbers of 4 bytes must begin where SQLite's bytes need not.
  bytes.byteOffset % BYTES_EACH === 0
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / BYTES_EACH)
    : new Uint32Array(bytes.slice().buffer);
