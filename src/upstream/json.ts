/** A number of 16 digits or more, or with an exponent, may be one that a float can't hold. */
const SUSPICIOUS_NUMBER = /[[:,\s]-?(?:\d{16}|\d+(?:\.\d+)?[eE])/;

/**
 * JSON.parse that loses no digit: an integer that a float can't hold exactly becomes its decimal string, and a number too
 * big for a float its own text. Throws SyntaxError as JSON.parse does.
 */
export const parseExactJson = (text: string): unknown =>
  mayLoseDigits(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);

/** False when JSON.parse alone is exact. */
export const mayLoseDigits = (text: string): boolean => SUSPICIOUS_NUMBER.test(text);

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) || !Number.isFinite(value) ? source : value;
}
