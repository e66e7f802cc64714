import { byteAt, isDigit, isHexDigit, MINUS, QUOTE, ZERO } from './bytes';
import { appendDecimal } from './decimal';
import { appendQuoted, Heap, push, reserve } from './heap';
import { Numeric, numberEnd } from './number';
import { setAppended, setSpan } from './slot';

/** Integers in any of upstream's forms: a JSON number, a string of decimal digits, a string of hex digits. */

const MAX_LENGTH: usize = 100;
/** 256 bits. */
const MAX_HEX_DIGITS: usize = 64;
/** An integer with this many digits is a safe one. */
const SAFE_DIGITS: usize = 15;
const LOWER_X: u32 = 0x78;

/** Reads an integer into a slot, as a decimal string. Returns its end; 0 for anything but a usual form. */
export function readInteger(p: usize, slot: usize): usize {
  const first = byteAt(p);
  if (first === QUOTE) return isHexForm(p) ? readHexInteger(p, slot) : readDecimalString(p, slot);
  if (first !== MINUS && !isDigit(first)) return 0;
  const end = numberEnd(p);
  const isMinusZero = first === MINUS && byteAt(p + 1) === ZERO;
  if (!Numeric.integer || isMinusZero || end - p > MAX_LENGTH) return 0;
  setAppended(slot, appendQuoted(p, end));
  return end;
}

/** As `readInteger`, of an integer of at most 15 digits that is not negative. It becomes a JSON number. */
export function readChainId(p: usize, slot: usize): usize {
  if (byteAt(p) !== QUOTE) {
    const end = isDigit(byteAt(p)) ? numberEnd(p) : 0;
    if (end === 0 || !Numeric.integer || !Numeric.plain) return 0;
    setSpan(slot, p, end);
    return end;
  }
  if (byteAt(p + 1) === MINUS) return 0;
  const from = Heap.top;
  const end = isHexForm(p) ? readHexInteger(p, slot) : readDecimalString(p, slot);
  if (end === 0) return 0;
  const start = <usize>load<u32>(slot) + 1;
  const length = <usize>load<u32>(slot, 4) - 2;
  if (length > SAFE_DIGITS) {
    Heap.top = from;
    return 0;
  }
  setSpan(slot, start, start + length);
  return end;
}

function isHexForm(p: usize): bool {
  return byteAt(p + 1) === ZERO && (byteAt(p + 2) | 0x20) === LOWER_X;
}

/** `"0x"` is 0, but `"0X"` is not an integer. */
function readHexInteger(p: usize, slot: usize): usize {
  const digits = p + 3;
  let end = digits;
  while (isHexDigit(byteAt(end))) end += 1;
  if (byteAt(end) !== QUOTE || end - digits > MAX_HEX_DIGITS) return 0;
  if (end === digits && byteAt(p + 2) !== LOWER_X) return 0;
  const from = Heap.top;
  reserve(2);
  push(QUOTE);
  appendDecimal(digits, end);
  reserve(1);
  push(QUOTE);
  setAppended(slot, from);
  return end + 1;
}

/** Digits without leading zeros. */
function readDecimalString(p: usize, slot: usize): usize {
  const first = byteAt(p + 1) === MINUS ? p + 2 : p + 1;
  let end = first;
  while (isDigit(byteAt(end))) end += 1;
  if (byteAt(end) !== QUOTE || end === first || end - p > MAX_LENGTH + 1) return 0;
  if (byteAt(first) === ZERO && (end !== first + 1 || first !== p + 1)) return 0;
  setSpan(slot, p, end + 1);
  return end + 1;
}
