/** The beginning of a number that has an exponent, or 16 characters and more, after what it may follow. */
const CANDIDATE = /(^|[[:,\s])-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;
/** The whole number. */
const TOKEN = /-?[\d.]+(?:[eE][+-]?\d+)?/y;
/** A 256-bit number has 78 digits. */
const MAX_ZEROS = 100;
/** A decimal number with at most this many digits survives the conversion to a float and back. */
const SAFE_DIGITS = 15;
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** What may follow a number. A number before a colon stays a number, so that JSON.parse rejects it as a key. */
const END_OF_VALUE = /[ \t\n\r]*(?:[\]},]|$)/y;

/**
 * Parses JSON without loss of digits (lossless JSON). A number that a float can't represent exactly becomes a string: an
 * integer as its decimal digits; a fraction, or a number beyond all floats, as it was written. Throws SyntaxError where
 * JSON.parse does. Takes time in proportion to the text, however many such numbers it has.
 */
export const parseExactJson = (text: string): unknown => JSON.parse(withDigitsKept(text));

/** Returns the same JSON with each number that would lose digits as a string. */
const withDigitsKept = (text: string): string => {
  if (!CANDIDATE.test(text)) return text;
  const parts: string[] = [];
  let copied = 0;
  let outside = 0;
  let quote = text.indexOf('"');
  const candidate = new RegExp(CANDIDATE, 'g');
  for (let match = candidate.exec(text); match !== null; match = candidate.exec(text)) {
    for (; quote !== -1 && quote < match.index; quote = text.indexOf('"', outside))
      outside = endOfString(text, quote);
    if (match.index < outside) {
      candidate.lastIndex = outside;
      continue;
    }
    const start = match.index + (match[1] ?? '').length;
    TOKEN.lastIndex = start;
    const [source = ''] = TOKEN.exec(text) ?? [];
    const end = start + source.length;
    candidate.lastIndex = end;
    const kept = digitsOf(source);
    END_OF_VALUE.lastIndex = end;
    if (kept === null || !END_OF_VALUE.test(text)) continue;
    parts.push(text.slice(copied, start), `"${kept}"`);
    copied = end;
  }
  return copied === 0 ? text : parts.join('') + text.slice(copied);
};

/** Returns the index after the string that begins at `quote`; the text's length for an unterminated string. */
const endOfString = (text: string, quote: number): number => {
  for (let end = text.indexOf('"', quote + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
};

/**
 * Returns the digits to keep; null if the text is not a number, if a float represents it exactly, or if its exponent adds
 * more than MAX_ZEROS zeros.
 */
const digitsOf = (source: string): string | null => {
  const value = Number(source);
  // Different numbers with so few digits have different floats.
  const isApart = Number.isSafeInteger(value) || !Number.isInteger(value);
  if (source.length <= SAFE_DIGITS && Number.isFinite(value) && isApart) return null;
  const number = NUMBER.exec(source);
  if (number === null) return null;
  if (!Number.isFinite(value)) return source;
  const [, sign = '', whole = '', written = '', exponent = '0'] = number;
  const fraction = withoutTrailingZeros(written);
  const zeros = Number(exponent) - fraction.length;
  if (zeros < 0) return (whole + fraction).length > SAFE_DIGITS && String(value) !== source ? source : null;
  if (zeros > MAX_ZEROS) return null;
  const significant = whole === '0' ? withoutLeadingZeros(fraction) : whole + fraction;
  if (significant === '') return null;
  const digits = sign + significant + '0'.repeat(zeros);
  return Number.isSafeInteger(value) && String(value) === digits ? null : digits;
};

/** A loop, because a regular expression would scan each run of zeros many times. */
const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
};

const withoutLeadingZeros = (digits: string): string => {
  let start = 0;
  while (digits[start] === '0') start += 1;
  return digits.slice(start);
};

/** A parsed JSON object whose fields have not been checked yet. */
export type RawObject = Readonly<Record<string, unknown>>;

/** Whether a parsed JSON value is an object: not null, and not an array. */
export const isObject = (value: unknown): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
