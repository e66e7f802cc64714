/**
 * How a lookup writes its numbers in JSON. Each service behind the lookups has its own way, and clients must read them
 * all: whole numbers beyond 2^53, exponents, and points where nothing follows.
 */
export type NumberStyle = 'fifteen digits' | 'doubles' | 'pointed doubles';

/** A text that JSON.stringify writes as it is. The types of ECMAScript do not have it yet. */
const rawJson: (text: string) => unknown = Reflect.get(JSON, 'rawJSON');

/** The members that hold integers, in every lookup. */
const INTEGERS = new Set([
  'block_number',
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
  doubles: String,
  'pointed doubles': pointed,
};

/** The JSON of a body. Undefined members are left out. */
export const writeJson = (body: unknown, style: NumberStyle): string =>
  JSON.stringify(body, (key, value: unknown) =>
    typeof value === 'number' && !INTEGERS.has(key) ? rawJson(WRITERS[style](value)) : value,
  );
