/** Exact arithmetic with the gateway's decimals: digits with at most one point and one minus, never an exponent. */

const scaleOf = (decimal: string): number => {
  const point = decimal.indexOf('.');
  return point < 0 ? 0 : decimal.length - point - 1;
};

const scaled = (decimal: string, scale: number): bigint =>
  BigInt(decimal.replace('.', '') + '0'.repeat(scale - scaleOf(decimal)));

/** Above 0 if the first is larger, below 0 if the second is. */
export const compareDecimals = (one: string, other: string): number => {
  const scale = Math.max(scaleOf(one), scaleOf(other));
  const difference = scaled(one, scale) - scaled(other, scale);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
};

/** The exact sum; `0` of none. */
export const sumOf = (decimals: readonly string[]): string => {
  const scale = decimals.reduce((most, decimal) => Math.max(most, scaleOf(decimal)), 0);
  const sum = decimals.reduce((total, decimal) => total + scaled(decimal, scale), 0n);
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)];
  return `${sum < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
};
