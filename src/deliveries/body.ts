import { mayLoseDigits, parseExactJson } from '../upstream/json.ts';

/** More levels than any real body has, and fewer than what a recursive reader's stack takes. */
const MAX_DEPTH = 200;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A JSON body without loss of digits: an integer beyond 2^53 becomes its decimal string, and so does a number too big
 * for a float. What is nested beyond reason becomes the text itself, one string, so that nothing that reads it later
 * runs out of stack. Throws SyntaxError, or TypeError (not UTF-8), for what is not a JSON object or array.
 */
export function parseBody(bytes: Uint8Array): unknown {
  const text = utf8.decode(bytes);
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new SyntaxError('not an object or array');
  if (!isWithin(MAX_DEPTH, value)) return text;
  return mayLoseDigits(text) ? parseExactJson(text) : value;
}

function isWithin(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isWithin(depth - 1, part));
}
