/** A number of 16 digits or more outside of a string may be one that a float can't hold. */
const LONG_NUMBER = /[[:,\s]-?\d{16,}|[[:,\s]-?\d+(?:\.\d+)?[eE]\d{2,}/;

/**
 * JSON.parse that loses no digit: an integer that a float can't hold exactly becomes its decimal string.
 * Throws SyntaxError as JSON.parse does.
 */
export const parseExactJson = (text: string): unknown =>
  LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? source : value;
}
