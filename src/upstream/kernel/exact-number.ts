import { parseExactJson } from '../../lib/json/exact-json.ts';

/** The styles of kernel/assembly/exact.ts. */
const EXACT_TEXT = 1;
const FLOAT = 2;

/** Real numbers have at most 78 digits. A longer one is left to the plain reader. */
const MAX_DIGITS = 1000;

/**
 * Returns the JSON of a JSON number: as the exact parser reads it, the same as a string, or as the nearest float. Returns
 * null for a number that is beyond all floats, where a float is asked for, and for a very long one.
 */
export const exactNumberJson = (number: string, style: number): string | null => {
  if (number.length > MAX_DIGITS) return null;
  if (style === FLOAT) {
    const float = Number(number);
    return Number.isFinite(float) ? JSON.stringify(float) : null;
  }
  const value = parseExactJson(number);
  return JSON.stringify(style === EXACT_TEXT ? String(value) : value);
};
