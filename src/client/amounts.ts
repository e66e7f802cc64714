/** Exact arithmetic with the gateway's numbers: a BigInt is digits, a Decimal digits with at most one point, never an exponent. */

const WHOLE = /^-?\d+$/;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;

const expectThat = (isRight: boolean, expected: string, got: unknown): void => {
  if (!isRight) throw new TypeError(`Expected ${expected}, got ${JSON.stringify(String(got))}.`);
};

const split = (amount: string | bigint, decimals: number) => {
  const text = String(amount);
  expectThat(WHOLE.test(text), 'an amount in digits', text);
  expectThat(Number.isInteger(decimals) && decimals >= 0, 'a whole number of decimals', decimals);
  const isNegative = text.startsWith('-');
  const digits = (isNegative ? text.slice(1) : text).replace(/^0+(?=\d)/, '').padStart(decimals + 1, '0');
  return {
    isNegative,
    whole: digits.slice(0, digits.length - decimals),
    fraction: digits.slice(digits.length - decimals),
  };
};

const withPoint = (whole: string, fraction: string): string =>
  fraction === '' ? whole : `${whole}.${fraction}`;

/**
 * An amount of the smallest unit in whole units, exactly: `1500000` with 6 decimals is `1.5`. `Intl.NumberFormat` shows all
 * digits of it in any language. Throws a TypeError for what is not a whole number in digits.
 */
export const formatUnits = (amount: string | bigint, decimals: number): string => {
  const { isNegative, whole, fraction } = split(amount, decimals);
  const text = withPoint(whole, fraction.replace(/0+$/, ''));
  return isNegative && text !== '0' ? `-${text}` : text;
};

/**
 * An amount in whole units as one of the smallest unit, exactly: `1.5` with 6 decimals is `1500000`. Throws a TypeError for
 * what is not a decimal number in digits, and for more decimals than the unit has.
 */
export const parseUnits = (amount: string, decimals: number): string => {
  expectThat(DECIMAL.test(amount), 'a decimal number in digits', amount);
  const [whole = '', fraction = ''] = amount.split('.');
  const kept = fraction.replace(/0+$/, '');
  expectThat(kept.length <= decimals, `at most ${decimals} decimals`, amount);
  return String(BigInt(whole + kept.padEnd(decimals, '0')));
};

/**
 * An amount of the smallest unit for readers of English: `1234567890` with 6 decimals is `1,234.56789`. It is cut behind
 * `shownDecimals` and never rounded; one that is too small for them is `<0.000001`. A minus is `−`.
 */
export const formatAmount = (amount: string | bigint, decimals: number, shownDecimals = 6): string => {
  const { isNegative, whole, fraction } = split(amount, decimals);
  const shown = fraction.slice(0, shownDecimals).replace(/0+$/, '');
  const isTooSmall = whole === '0' && shown === '' && /[1-9]/.test(fraction);
  const text = isTooSmall
    ? `<${withPoint('0', '1'.padStart(shownDecimals, '0'))}`
    : withPoint(whole.replace(/\B(?=(\d{3})+$)/g, ','), shown);
  return isNegative && text !== '0' ? `−${text}` : text;
};

/** More than any token has: who may spend that much may spend all. */
const UNLIMITED = 2n ** 128n - 1n;

/** Whether an allowance is one without a limit. */
export const isUnlimited = (amount: string | bigint): boolean => BigInt(amount) >= UNLIMITED;

const scaleOf = (decimal: string): number => {
  const point = decimal.indexOf('.');
  return point < 0 ? 0 : decimal.length - point - 1;
};

const scaled = (decimal: string, scale: number): bigint =>
  BigInt(decimal.replace('.', '') + '0'.repeat(scale - scaleOf(decimal)));

/** Compares two decimal numbers: above 0 if the first is larger, below 0 if the second is. Sorts a list of them. */
export const compareDecimals = (one: string, other: string): number => {
  const scale = Math.max(scaleOf(one), scaleOf(other));
  const difference = scaled(one, scale) - scaled(other, scale);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
};

/** The exact sum of decimal numbers, with the most decimals that one of them has; `0` of none. */
export const sumDecimals = (decimals: readonly string[]): string => {
  const scale = decimals.reduce((most, decimal) => Math.max(most, scaleOf(decimal)), 0);
  const sum = decimals.reduce((total, decimal) => total + scaled(decimal, scale), 0n);
  const { isNegative, whole, fraction } = split(sum, scale);
  return `${isNegative ? '-' : ''}${withPoint(whole, fraction)}`;
};
