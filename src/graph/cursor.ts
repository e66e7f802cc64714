import { createHash } from 'node:crypto';
import { clientError } from './errors.ts';
import type { Follower, Position } from './position.ts';

/** What a cursor is bound to: it has no meaning on another wallet's list, or under other filters. */
export type Binding = string;

const VERSION = 1;
const MAX_CURSOR_LENGTH = 4096;

/** `parts` in a fixed order: the kind of list, the wallet, each filter in its canonical form. */
export const bindingOf = (parts: readonly (string | boolean | null)[]): Binding =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 11);

export const encodeCursor = (binding: Binding, position: Position): string => {
  const { offset, index, identity, time, next, trail } = position;
  const fields = [VERSION, binding, offset, index, identity, time, next, trail];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
};

/** Throws INVALID_CURSOR for what this version did not write, and for another list's cursor. */
export const decodeCursor = (binding: Binding, cursor: string): Position => {
  const fields = parse(cursor);
  if (!isWritten(fields))
    throw clientError(
      'INVALID_CURSOR',
      'Expected a cursor of this connection, got something that is not a cursor.',
    );
  const [, bound, offset, index, identity, time, next, trail] = fields;
  if (bound !== binding)
    throw clientError(
      'INVALID_CURSOR',
      'Expected a cursor of this connection, got one of another wallet or of other filters.',
    );
  return { offset, index, identity, time, next, trail };
};

type Written = [number, Binding, string | null, number, string, number | null, Follower | null, string[]];

const parse = (cursor: string): unknown => {
  if (cursor.length > MAX_CURSOR_LENGTH) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  // Decoding skips what is not base64url: only a round trip shows that every character counted.
  if (bytes.toString('base64url') !== cursor) return null;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
};

const isFollower = (value: { identity?: unknown; offset?: unknown }): value is Follower =>
  Object.keys(value).length === 1 && typeof (value.identity ?? value.offset) === 'string';

const isWritten = (fields: unknown): fields is Written =>
  Array.isArray(fields) &&
  fields.length === 8 &&
  fields[0] === VERSION &&
  typeof fields[1] === 'string' &&
  (fields[2] === null || typeof fields[2] === 'string') &&
  Number.isSafeInteger(fields[3]) &&
  fields[3] >= 0 &&
  typeof fields[4] === 'string' &&
  (fields[5] === null || Number.isSafeInteger(fields[5])) &&
  (fields[6] === null || isFollower(fields[6])) &&
  Array.isArray(fields[7]) &&
  fields[7].every((digest) => typeof digest === 'string');
