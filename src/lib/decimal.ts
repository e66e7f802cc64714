import { BigNumber } from 'bignumber.js';

/** Exact decimal numbers: sums and products keep all digits, a quotient is rounded to 18 decimal places. */
export const Decimal = BigNumber.clone({ DECIMAL_PLACES: 18, EXPONENTIAL_AT: 1e9 });

const PLAIN = /^-?\d+(?:\.\d+)?$/;
/** With at most the exponents of a float. */
const SCIENTIFIC = /^-?\d+(?:\.\d+)?[eE][+-]?[0-3]?\d{1,2}$/;

/** More digits than any float has. The time that a quotient takes grows with their square. */
const MAX_LENGTH = 1000;

/**
 * Returns the digits of a decimal number without an exponent: `2.5e-7` is `0.00000025`. A number that has no exponent is
 * returned as it is. Null for any other text, for more than 1,000 characters, and for an exponent beyond 399.
 */
export const plainDecimal = (text: string): string | null => {
  if (text.length > MAX_LENGTH) return null;
  if (PLAIN.test(text)) return text;
  return SCIENTIFIC.test(text) ? new Decimal(text).toFixed() : null;
};

/**
 * Returns by how much of `then` a number has changed: `now / then - 1`, rounded to 18 decimal places. Null where one of them
 * is null, or `then` is zero.
 */
export const changeRatio = (now: string | null, then: string | null): string | null => {
  if (now === null || then === null) return null;
  const before = new Decimal(then);
  return before.isZero() ? null : new Decimal(now).minus(before).div(before).toFixed();
};
