import { byteAt, COMMA, isHexDigit, LIST, LIST_END, QUOTE, SPACE } from './bytes';
import { Heap, push, reserve } from './heap';
import { afterSpace } from './scanner';
import { setAppended, setSpan } from './slot';

/** What the last call of `hexEnd` found. */
class Hex {
  static hasUpper: bool = false;
}

/** `"0x` as the low three bytes of a little-endian word. */
const PREFIX: u32 = 0x78_3022;
const PREFIX_LENGTH: usize = 3;
/** With its quotes. */
export const ADDRESS_LENGTH: usize = 44;

/** Returns the end of the string `"0x…"` at `p`; 0 for anything else. */
export function hexEnd(p: usize): usize {
  if ((load<u32>(p) & 0xff_ffff) !== PREFIX) return 0;
  const end = lowerHexEnd(p + PREFIX_LENGTH);
  Hex.hasUpper = false;
  return byteAt(end) === QUOTE ? end + 1 : mixedHexEnd(end);
}

function lowerHexEnd(start: usize): usize {
  const zero = i8x16.splat(0x30);
  const nine = i8x16.splat(9);
  const a = i8x16.splat(0x61);
  const five = i8x16.splat(5);
  let p = start;
  while (true) {
    const bytes = v128.load(p);
    const isDigit = i8x16.le_u(i8x16.sub(bytes, zero), nine);
    const digits = i8x16.bitmask(v128.or(isDigit, i8x16.le_u(i8x16.sub(bytes, a), five)));
    if (digits !== 0xffff) return p + ctz(~digits);
    p += 16;
  }
}

function mixedHexEnd(start: usize): usize {
  let p = start;
  while (isHexDigit(byteAt(p))) p += 1;
  Hex.hasUpper = true;
  return byteAt(p) === QUOTE ? p + 1 : 0;
}

/** Puts the hex string into a slot, in lower case. `end` is what `hexEnd` returned. */
export function setHex(slot: usize, p: usize, end: usize): void {
  if (!Hex.hasUpper) return setSpan(slot, p, end);
  const from = Heap.top;
  appendLower(p, end);
  setAppended(slot, from);
}

/** Of the bytes of a hex string only capitals change by this bit: the quotes, digits and x have it already. */
function appendLower(from: usize, end: usize): void {
  reserve(end - from);
  for (let p = from; p < end; p += 1) push(byteAt(p) | SPACE);
}

/** Reads a list of hex strings into a slot, in lower case and without white space. Returns its end; 0 for anything else. */
export function readHexList(start: usize, slot: usize): usize {
  let hasSpace = byteAt(start + 1) <= SPACE;
  let hasUpper = false;
  let p = afterSpace(start + 1);
  if (byteAt(p) === LIST_END) p += 1;
  else
    while (true) {
      const end = hexEnd(p);
      if (end === 0) return 0;
      hasUpper = hasUpper || Hex.hasUpper;
      const separator = afterSpace(end);
      p = afterSpace(separator + 1);
      if (byteAt(separator) === LIST_END) {
        hasSpace = hasSpace || separator !== end;
        p = separator + 1;
        break;
      }
      if (byteAt(separator) !== COMMA) unreachable();
      hasSpace = hasSpace || p !== end + 1;
    }
  if (hasSpace || hasUpper) setAppended(slot, appendHexList(start, p));
  else setSpan(slot, start, p);
  return p;
}

/** Appends the list without white space, in lower case. Returns where it begins. */
function appendHexList(start: usize, end: usize): usize {
  const from = Heap.top;
  reserve(end - start);
  push(LIST);
  for (let p = start + 1; p < end - 1; p += 1) if (byteAt(p) > SPACE) push(byteAt(p) | SPACE);
  push(LIST_END);
  return from;
}
