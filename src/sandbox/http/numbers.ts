/**
 * How a lookup writes its numbers in JSON. Each service behind the lookups has its own way, and clients must read them
 * all: whole numbers beyond 2^53, exponents, and points where nothing follows.
 */
export type NumberStyle = 'fifteen digits' | 'pointed doubles';

/** A text that JSON.stringify writes as it is. The types of ECMAScript do not have it yet. */
const rawJson: (text: string) => unknown = Reflect.get(JSON, 'rawJSON');

/** The members that hold integers, in every lookup. */
const INTEGERS = new Set([
  'chain_id',
  'chain_ids',
  'decimals',
  'lock_end',
  'offset_hours',
  'tick_lower',
  'tick_upper',
]);

/**
 * `7.65e-05` from 1e-4 down, as languages of the C family write it; JavaScript would go on to 1e-6. What needs an
 * exponent for its size has all digits of a double.
 */
const fifteenDigits = (value: number): string => {
  if (Math.abs(value) >= 1e21) return String(value);
  const rounded = Number(value.toPrecision(15));
  if (rounded === 0 || Math.abs(rounded) >= 1e-4) return String(rounded);
  return rounded.toExponential().replace(/e-(\d)$/, 'e-0$1');
};

/** `10.0`, and `8.852246853764e-6` from 1e-5 down. */
const pointed = (value: number): string => {
  const text = value !== 0 && Math.abs(value) < 1e-5 ? value.toExponential() : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
};

const WRITERS: Readonly<Record<NumberStyle, (value: number) => string>> = {
  'fifteen digits': fifteenDigits,
  'pointed doubles': pointed,
};

/** The JSON of a body. Undefined members are left out. Without a style, numbers are written as JavaScript does. */
export const writeJson = (body: unknown, style?: NumberStyle): string => {
  if (style === undefined) return JSON.stringify(body);
  const write = WRITERS[style];
  return JSON.stringify(body, (key, value: unknown) => {
    if (INTEGERS.has(key)) return Array.isArray(value) ? value.map((each) => rawJson(String(each))) : value;
    return typeof value === 'number' ? rawJson(write(value)) : value;
  });
};
