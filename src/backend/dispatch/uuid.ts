import { randomBytes } from 'node:crypto';

/** Creates a UUIDv7: the time in milliseconds, then 74 random bits. */
export const uuidV7 = (milliseconds: number): string => {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.floor(milliseconds), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

const GROUP_LENGTHS = [8, 4, 4, 4, 12];

type Unwrapped = { readonly digits: string; readonly start: number; readonly plain: boolean };

/** Removes the braces or the `urn:uuid:` prefix that a UUID may have. `start` is the position of its digits. */
const unwrap = (text: string): Unwrapped => {
  if (text.startsWith('{') && text.endsWith('}'))
    return { digits: text.slice(1, -1), start: 1, plain: false };
  if (text.startsWith('urn:uuid:')) return { digits: text.slice(9), start: 9, plain: false };
  return { digits: text, start: 0, plain: true };
};

const wrongCharacter = (digits: string, start: number): string | null => {
  const at = digits.search(/[^0-9a-fA-F-]/);
  if (at < 0) return null;
  const found = String.fromCodePoint(digits.codePointAt(at) ?? 0);
  const expected = 'an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-]';
  return `invalid character: expected ${expected}, found \`${found}\` at ${start + at + 1}`;
};

const wrongGroups = (groups: readonly string[]): string | null => {
  if (groups.length !== GROUP_LENGTHS.length)
    return `invalid group count: expected ${GROUP_LENGTHS.length}, found ${groups.length}`;
  const group = groups.findIndex((part, index) => part.length !== GROUP_LENGTHS[index]);
  if (group < 0) return null;
  return `invalid group length in group ${group}: expected ${GROUP_LENGTHS[group]}, found ${groups[group]?.length}`;
};

/** The service's message about a malformed UUID; null when the UUID is well-formed. */
export const uuidProblem = (text: string): string | null => {
  const { digits, start, plain } = unwrap(text);
  const character = wrongCharacter(digits, start);
  if (character !== null) return character;
  if (plain && !digits.includes('-')) {
    if (digits.length === 32) return null;
    return `invalid length: expected length 32 for simple format, found ${digits.length}`;
  }
  return wrongGroups(digits.split('-'));
};

/** The lower-case hyphenated form of a well-formed UUID. */
export const canonicalUuid = (text: string): string =>
  unwrap(text)
    .digits.replaceAll('-', '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
