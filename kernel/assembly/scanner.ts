import { BACKSLASH, byteAt, isHexDigit, LOWER_U, QUOTE, SLASH, SPACE } from './bytes';

/**
 * Scanning JSON. What is no JSON traps (`unreachable`): the host then takes the plain parser for the whole body. Every scan
 * ends at a zero byte at the latest, which follows the body.
 */
export class Scanner {
  /** Set by `stringEnd` where a string has an escape that JSON.stringify writes otherwise: \/ or \u. */
  static escaped: bool = false;
}

/** Returns the address of the next byte that is no white space. */
export function afterSpace(p: usize): usize {
  return byteAt(p) > SPACE ? p : afterSpaces(p);
}

function afterSpaces(start: usize): usize {
  let p = start;
  for (let byte = byteAt(p); byte === SPACE || byte === 10 || byte === 13 || byte === 9; byte = byteAt(p))
    p += 1;
  return p;
}

/** Returns the address of the quote that ends the string whose text begins at `p`. */
export function stringEnd(start: usize): usize {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const control = i8x16.splat(0x1f);
  let p = start;
  while (true) {
    const bytes = v128.load(p);
    const special = v128.or(
      v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)),
      i8x16.le_u(bytes, control),
    );
    const found = i8x16.bitmask(special);
    if (found === 0) p += 16;
    else {
      p += ctz(found);
      if (byteAt(p) === QUOTE) return p;
      p = afterEscape(p);
    }
  }
}

/** Returns the address behind the escape at `p`. A control character is no JSON. */
function afterEscape(p: usize): usize {
  if (byteAt(p) !== BACKSLASH) unreachable();
  const kind = byteAt(p + 1);
  // \" \\ \n \t \r \b \f
  if (kind === QUOTE || kind === BACKSLASH || kind === 0x6e || kind === 0x74) return p + 2;
  if (kind === 0x72 || kind === 0x62 || kind === 0x66) return p + 2;
  Scanner.escaped = true;
  if (kind === SLASH) return p + 2;
  if (kind !== LOWER_U) unreachable();
  for (let digit: usize = 2; digit < 6; digit += 1) if (!isHexDigit(byteAt(p + digit))) unreachable();
  return p + 6;
}

/** Whether a backslash lies between the two addresses. It may read 15 bytes more. */
export function hasBackslash(from: usize, end: usize): bool {
  const backslash = i8x16.splat(0x5c);
  for (let p = from; p < end; p += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(p), backslash));
    if (found !== 0) return p + <usize>ctz(found) < end;
  }
  return false;
}
