import { byteAt, hexValue, ZERO } from './bytes';
import { Heap, push, reserve } from './heap';

/** Conversion of hex digits to decimal digits. */

/** 2^28 is what seven hex digits hold. */
const GROUP: usize = 7;
const LIMB: u64 = 1_000_000_000;
const LIMB_DIGITS: i32 = 9;
/** Nine limbs hold 256 bits. */
const limbs = memory.data(4 * 10);
const MAX_DECIMAL: usize = 90;

/** Appends the decimal of at most 64 hex digits. No digit is 0. */
export function appendDecimal(start: usize, end: usize): void {
  let p = start;
  while (p < end && byteAt(p) === ZERO) p += 1;
  reserve(MAX_DECIMAL);
  if (end - p > 16) return appendLarge(p, end);
  let value: u64 = 0;
  for (; p < end; p += 1) value = (value << 4) | <u64>hexValue(byteAt(p));
  appendInteger(value);
}

function appendInteger(value: u64): void {
  if (value < 10) return push(ZERO + <u32>value);
  if (value < LIMB) return appendDigits(<u32>value, digitsOf(<u32>value));
  const high = value / LIMB;
  appendInteger(high);
  appendDigits(<u32>(value - high * LIMB), LIMB_DIGITS);
}

function digitsOf(value: u32): i32 {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  return value < 10_000_000 ? 7 : value < 100_000_000 ? 8 : 9;
}

function appendDigits(value: u32, count: i32): void {
  let rest = value;
  for (let p = Heap.top + <usize>count - 1; p >= Heap.top; p -= 1) {
    const tenth = rest / 10;
    store<u8>(p, ZERO + rest - tenth * 10);
    rest = tenth;
  }
  Heap.top += <usize>count;
}

/** The first digit is not 0. */
function appendLarge(start: usize, end: usize): void {
  memory.fill(limbs, 0, 40);
  let used = 1;
  for (let p = start; p < end; ) {
    const groupEnd = p + GROUP < end ? p + GROUP : end;
    const shift = <u64>(groupEnd - p) * 4;
    let carry: u64 = 0;
    for (; p < groupEnd; p += 1) carry = (carry << 4) | <u64>hexValue(byteAt(p));
    for (let limb = 0; limb < used; limb += 1) {
      const address = limbs + ((<usize>limb) << 2);
      const value = ((<u64>load<u32>(address)) << shift) + carry;
      carry = value / LIMB;
      store<u32>(address, <u32>(value - carry * LIMB));
    }
    if (carry > 0) {
      store<u32>(limbs + ((<usize>used) << 2), <u32>carry);
      used += 1;
    }
  }
  appendInteger(<u64>load<u32>(limbs + ((<usize>(used - 1)) << 2)));
  for (let limb = used - 2; limb >= 0; limb -= 1)
    appendDigits(load<u32>(limbs + ((<usize>limb) << 2)), LIMB_DIGITS);
}
