/** A number of 16 digits or more, or one with an exponent, outside of a string may be one that a float can't hold. */
const SUSPICIOUS_NUMBER = /[[:,\s]-?(?:\d{16}|\d+\.\d{15}|\d+(?:\.\d+)?[eE])/;

/**
 * JSON.parse that loses no digit: a number that a float can't hold exactly becomes a string, of an integer its decimal
 * digits, of a fraction or of what is beyond all floats what was written. Throws SyntaxError as JSON.parse does.
 */
export const parseExactJson = (text: string): unknown =>
  mayLoseDigits(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);

/** False when JSON.parse alone is exact. */
export const mayLoseDigits = (text: string): boolean => SUSPICIOUS_NUMBER.test(text);

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  if (!Number.isFinite(value)) return context.source;
  const digits = digitsOf(context.source);
  return digits === null || (Number.isSafeInteger(value) && String(value) === digits) ? value : digits;
}

/** Null where a float loses nothing, or nobody could mean so large a number. */
const digitsOf = (source: string): string | null => {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e');
  const [whole = '', written = ''] = mantissa.split('.');
  const fraction = written.replace(/0+$/, '');
  const zeros = Number(exponent) - fraction.length;
  if (zeros >= 0) return zeros > MAX_ZEROS ? null : BigInt(whole + fraction + '0'.repeat(zeros)).toString();
  return (whole + fraction).length > SAFE_DIGITS ? source : null;
};

/** Of a 256-bit number there are 78. */
const MAX_ZEROS = 100;
/** A float holds so many in any case. */
const SAFE_DIGITS = 15;
