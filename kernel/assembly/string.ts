import { BACKSLASH, byteAt, hexValue, LOWER_U, QUOTE, SLASH } from './bytes';
import { Heap, push, reserve } from './heap';
import { Scanner, stringEnd } from './scanner';
import { setAppended, setSpan } from './slot';

/** Reads the string at `p` into a slot, as JSON.stringify writes it. Returns its end. */
export function readString(p: usize, slot: usize): usize {
  Scanner.escaped = false;
  const end = stringEnd(p + 1) + 1;
  if (Scanner.escaped) {
    const from = Heap.top;
    appendString(p, end);
    setAppended(slot, from);
  } else setSpan(slot, p, end);
  return end;
}

/** Appends the string between its quotes, as JSON.stringify writes it: that is never longer. */
export function appendString(from: usize, end: usize): void {
  reserve(end - from);
  for (let p = from; p < end; ) {
    const byte = byteAt(p);
    const kind = byteAt(p + 1);
    if (byte !== BACKSLASH) {
      push(byte);
      p += 1;
    } else if (kind === LOWER_U) p = appendUnicode(p);
    else {
      if (kind !== SLASH) push(BACKSLASH);
      push(kind);
      p += 2;
    }
  }
}

/** Appends the character of the \u escape at `p`, or of two that are a surrogate pair. Returns the address behind. */
function appendUnicode(p: usize): usize {
  const unit = unitAt(p);
  if (unit >> 11 !== 0x1b) {
    appendUnit(unit);
    return p + 6;
  }
  const low = isEscapedUnit(p + 6) ? unitAt(p + 6) : 0;
  if (unit >> 10 === 0x36 && low >> 10 === 0x37) {
    const code = 0x1_0000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
    push(0xf0 | (code >> 18));
    push(0x80 | ((code >> 12) & 0x3f));
    push(0x80 | ((code >> 6) & 0x3f));
    push(0x80 | (code & 0x3f));
    return p + 12;
  }
  appendEscapedUnit(unit);
  return p + 6;
}

function isEscapedUnit(p: usize): bool {
  return byteAt(p) === BACKSLASH && byteAt(p + 1) === LOWER_U;
}

/** The UTF-16 code unit of the \u escape at `p`. */
function unitAt(p: usize): u32 {
  return (
    (hexValue(byteAt(p + 2)) << 12) |
    (hexValue(byteAt(p + 3)) << 8) |
    (hexValue(byteAt(p + 4)) << 4) |
    hexValue(byteAt(p + 5))
  );
}

/** Appends a code unit that is no surrogate. */
function appendUnit(unit: u32): void {
  if (unit === QUOTE || unit === BACKSLASH) {
    push(BACKSLASH);
    push(unit);
  } else if (unit < 0x20) {
    const short = shortEscape(unit);
    if (short === 0) appendEscapedUnit(unit);
    else {
      push(BACKSLASH);
      push(short);
    }
  } else if (unit < 0x80) push(unit);
  else {
    if (unit < 0x800) push(0xc0 | (unit >> 6));
    else {
      push(0xe0 | (unit >> 12));
      push(0x80 | ((unit >> 6) & 0x3f));
    }
    push(0x80 | (unit & 0x3f));
  }
}

/** The letter of \b, \t, \n, \f and \r; 0 for a control character without such an escape. */
function shortEscape(unit: u32): u32 {
  if (unit === 8) return 0x62;
  if (unit === 9) return 0x74;
  if (unit === 10) return 0x6e;
  if (unit === 12) return 0x66;
  return unit === 13 ? 0x72 : 0;
}

function appendEscapedUnit(unit: u32): void {
  push(BACKSLASH);
  push(LOWER_U);
  for (let shift: i32 = 12; shift >= 0; shift -= 4) push(lowerHexDigit((unit >> shift) & 15));
}

function lowerHexDigit(value: u32): u32 {
  return value < 10 ? 0x30 + value : 0x57 + value;
}
