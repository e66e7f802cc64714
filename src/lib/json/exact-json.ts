/** How a number begins, after what it may follow, that has an exponent or 16 characters and more. */
const CANDIDATE = /[[:,\s]-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;
/** All of it. */
const TOKEN = /-?[\d.]+(?:[eE][+-]?\d+)?/y;
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** What follows a number that is no key, which JSON.parse must see and refuse. */
const END_OF_VALUE = /[ \t\n\r]*(?:[\]},]|$)/y;

/**
 * JSON.parse that loses no digit: a number that a float can't hold becomes a string, an integer its decimal digits, a
 * fraction or what is beyond all floats as it was written. Throws SyntaxError where JSON.parse does. Takes time in
 * proportion to the text, however many such numbers there are.
 */
export const parseExactJson = (text: string): unknown => JSON.parse(withDigitsKept(text));

/** The same JSON, in which each number that would lose digits is a string. */
const withDigitsKept = (text: string): string => {
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
    const start = match.index + 1;
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

/** Where the string that begins at `quote` is over; the end of the text where it never is. */
const endOfString = (text: string, quote: number): number => {
  for (let end = text.indexOf('"', quote + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
};

/** Null for what is no number, for one that a float holds exactly, and for one whose exponent adds more than 100 zeros. */
const digitsOf = (source: string): string | null => {
  const value = Number(source);
  // Each number of so few digits has a float of its own.
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

/** A pattern would look at each run of zeros again and again. */
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

/** Of a 256-bit number there are 78. */
const MAX_ZEROS = 100;
/** A float holds so many in any case. */
const SAFE_DIGITS = 15;
