import type { Credential } from './request.ts';

/** A shorter key could occur in a response by chance. */
const MIN_REDACTED_LENGTH = 16;

const REPLACEMENT = '[key]';

const NOTHING = Buffer.alloc(0);

/** What the escape of any ASCII character begins with, see `SHORT_ESCAPES` for the others. */
const UNICODE_ESCAPE = Buffer.from('\\u00');

/** The characters of a key that JSON may escape by a backslash alone. */
const SHORT_ESCAPES: ReadonlyMap<string, Buffer> = new Map(
  ['/', '"', '\\'].map((character) => [character, Buffer.from(`\\${character}`)]),
);

/** The text without the key, which upstream may repeat literally or with characters escaped as in JSON. */
export const redactText = (text: string, { key }: Credential): string =>
  key.length >= MIN_REDACTED_LENGTH
    ? text.replaceAll(key, REPLACEMENT).replace(inJson(key), REPLACEMENT)
    : text;

/** The bytes of a key that is removed from bodies; null for a shorter one. */
export const secretOf = ({ key }: Credential): Buffer | null =>
  key.length >= MIN_REDACTED_LENGTH ? Buffer.from(key) : null;

/**
 * The JSON without the secret, even if it spans chunks or is hidden by JSON escapes: a client would see it after decoding
 * the string.
 */
export const redactChunks = (chunks: Buffer[], secret: Buffer | null): Buffer[] => {
  if (secret === null || !(hasBytes(chunks, secret) || mayEscape(chunks, secret))) return chunks;
  const json = Buffer.concat(chunks).toString('latin1');
  const redacted = redactJson(json, secret);
  return redacted === json ? chunks : [Buffer.from(redacted, 'latin1')];
};

/** Whether the JSON contains the secret with at least one character escaped. Cheap if there is no such escape. */
export const hasEscaped = (chunks: readonly Buffer[], secret: Buffer | null): boolean => {
  if (secret === null || !mayEscape(chunks, secret)) return false;
  const json = Buffer.concat(chunks).toString('latin1');
  return redactJson(json, secret) !== json;
};

/** Whether the JSON escapes a character that could be one of the secret's. */
const mayEscape = (chunks: readonly Buffer[], secret: Buffer): boolean =>
  hasBytes(chunks, UNICODE_ESCAPE) ||
  SHORT_ESCAPES.entries().some(
    ([character, escaped]) => secret.includes(character) && hasBytes(chunks, escaped),
  );

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

/** `json` has a character for each byte (Latin-1). */
const redactJson = (json: string, secret: Buffer): string => {
  const written = inJson(secret.toString('latin1'));
  const parts: string[] = [];
  let copied = 0;
  for (let match = written.exec(json); match !== null; match = written.exec(json)) {
    if (isEscaped(json, match.index)) {
      // The first character belongs to an escape: `\n`, or the backslash before `u003d` that is itself escaped.
      written.lastIndex = match.index + 1;
      continue;
    }
    parts.push(json.slice(copied, match.index), REPLACEMENT);
    copied = written.lastIndex;
  }
  return copied === 0 ? json : parts.join('') + json.slice(copied);
};

const isEscaped = (json: string, at: number): boolean => {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
};

/** Matches an ASCII text in every way in which a JSON string may spell it. */
const inJson = (text: string): RegExp =>
  new RegExp(
    Array.from(text, (character) => {
      const code = character.charCodeAt(0).toString(16).padStart(2, '0');
      const hex = code.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
      const asIs = `\\x${code}`;
      // Within a JSON string a quote and a backslash are always escaped.
      const short = character === '/' ? `\\\\?${asIs}` : SHORT_ESCAPES.has(character) ? `\\\\${asIs}` : asIs;
      return `(?:${short}|\\\\u00${hex})`;
    }).join(''),
    'g',
  );
