import type { Credential } from '../request-scope.ts';

/** A shorter key could occur in a response by chance. */
const MIN_REDACTED_LENGTH = 16;

const REPLACEMENT = '[key]';

const NOTHING = Buffer.alloc(0);

/** The text without the key, which upstream may repeat. */
export const redactText = (text: string, { key }: Credential): string =>
  key.length >= MIN_REDACTED_LENGTH ? text.replaceAll(key, REPLACEMENT) : text;

/** The bytes of a key that is removed from bodies; null for a shorter one. */
export const secretOf = ({ key }: Credential): Buffer | null =>
  key.length >= MIN_REDACTED_LENGTH ? Buffer.from(key) : null;

/** The bytes without the secret, also where it lies across chunks. */
export const redactChunks = (chunks: Buffer[], secret: Buffer | null): Buffer[] =>
  secret !== null && hasBytes(chunks, secret) ? [replaceBytes(Buffer.concat(chunks), secret)] : chunks;

const hasBytes = (chunks: readonly Buffer[], bytes: Buffer): boolean => {
  const overlap = bytes.length - 1;
  let before: Buffer = NOTHING;
  for (const chunk of chunks) {
    if (chunk.includes(bytes)) return true;
    if (before.length > 0 && Buffer.concat([before, chunk.subarray(0, overlap)]).includes(bytes)) return true;
    before =
      chunk.length < overlap ? Buffer.concat([before, chunk]).subarray(-overlap) : chunk.subarray(-overlap);
  }
  return false;
};

/** Latin-1 has one character for each byte. */
const replaceBytes = (whole: Buffer, bytes: Buffer): Buffer =>
  Buffer.from(whole.toString('latin1').replaceAll(bytes.toString('latin1'), REPLACEMENT), 'latin1');
