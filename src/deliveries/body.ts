import { parseExactJson } from '../lib/exact-json.ts';
import { JsonSize } from '../lib/json-size.ts';

/** More levels than any real body has, and fewer than what a recursive reader's stack takes. */
const MAX_DEPTH = 200;
/** More than a real body of 5 MB has; so many empty objects take 16 MB. */
const MAX_VALUES = 250_000;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * What a sender posted, for who sums it up and lets go of it. What is nested beyond reason becomes the text itself, one
 * string, so that nothing that reads it later runs out of stack. Digits that a float can't hold are lost: none of them
 * tells of a type, a chain or an address. Throws SyntaxError, or TypeError (not UTF-8), for what
 * is not a JSON object or array.
 */
export function parseBody(bytes: Uint8Array): unknown {
  const text = utf8.decode(bytes);
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new SyntaxError('not an object or array');
  return sizeOf(bytes).depth > MAX_DEPTH ? text : value;
}

export const sizeOf = (body: Uint8Array): JsonSize => new JsonSize().add(body);

/** Whether a body is given as it is built of its text; else it is given as the text. */
export const isWithinReason = ({ depth, values }: JsonSize): boolean =>
  depth <= MAX_DEPTH && values <= MAX_VALUES;

/**
 * A stored body without loss of digits: an integer beyond 2^53 becomes its decimal string, and so does a number too big
 * for a float. What is nested beyond 200 levels, or has more than 250,000 values, is the text itself.
 */
export function readBody(bytes: Uint8Array, size: JsonSize): unknown {
  const text = utf8.decode(bytes);
  return isWithinReason(size) ? parseExactJson(text) : text;
}
