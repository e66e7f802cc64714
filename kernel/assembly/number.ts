import { byteAt, isDigit, MINUS, PLUS, POINT, ZERO } from './bytes';

/** What the last scanned number was. */
export class Numeric {
  /** A float holds it exactly, and JavaScript writes it as it stands. */
  static plain: bool = false;
  /** It has neither a fraction nor an exponent. */
  static integer: bool = false;
  /** As a decimal it is its own text: it has no exponent, no zeros that say nothing, and is no negative zero. */
  static decimal: bool = false;
}

/** Different numbers with at most this many digits have different floats. */
const SAFE_DIGITS: usize = 15;
/** JavaScript writes smaller fractions with an exponent. */
const MAX_LEADING_ZEROS: usize = 5;

/** Returns the end of the number at `p`. Traps for what is no JSON number. */
export function numberEnd(start: usize): usize {
  const whole = byteAt(start) === MINUS ? start + 1 : start;
  let p = digitsEnd(whole);
  if (byteAt(whole) === ZERO && p !== whole + 1) unreachable();
  let digits = p - whole;
  Numeric.integer = true;
  let plain = true;
  let decimal = true;
  if (byteAt(p) === POINT) {
    const fraction = p + 1;
    p = digitsEnd(fraction);
    digits += p - fraction;
    Numeric.integer = false;
    decimal = byteAt(p - 1) !== ZERO;
    plain = decimal && !(byteAt(whole) === ZERO && isTiny(fraction));
  } else if (whole !== start && byteAt(whole) === ZERO) plain = decimal = false;
  if ((byteAt(p) | 0x20) === 0x65) {
    p += byteAt(p + 1) === PLUS || byteAt(p + 1) === MINUS ? 2 : 1;
    p = digitsEnd(p);
    Numeric.integer = false;
    plain = decimal = false;
  }
  Numeric.decimal = decimal;
  Numeric.plain = plain && digits <= SAFE_DIGITS;
  return p;
}

function isTiny(fraction: usize): bool {
  let p = fraction;
  while (byteAt(p) === ZERO) p += 1;
  return p - fraction > MAX_LEADING_ZEROS;
}

/** Returns the end of at least one digit. */
export function digitsEnd(start: usize): usize {
  let p = start;
  while (isDigit(byteAt(p))) p += 1;
  if (p === start) unreachable();
  return p;
}
