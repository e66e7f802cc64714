import { BigNumber } from 'bignumber.js';

/** Exact decimal numbers: sums and products keep all digits, a quotient is rounded to 18 decimal places. */
const Decimal = BigNumber.clone({ DECIMAL_PLACES: 18, EXPONENTIAL_AT: 1e9 });

const PLAIN = /^-?\d+(?:\.\d+)?$/;
/** With at most the exponents of a float. */
const SCIENTIFIC = /^-?\d+(?:\.\d+)?[eE][+-]?[0-3]?\d{1,2}$/;

/**
 * Returns the digits of a decimal number without an exponent: `2.5e-7` is `0.00000025`. A number that has no exponent is
 * returned as it is. Null for any other text, and for an exponent beyond 399.
 */
export const plainDecimal = (text: string): string | null => {
  if (PLAIN.test(text)) return text;
  return SCIENTIFIC.test(text) ? new Decimal(text).toFixed() : null;
};
