/** Base64 with padding, twelve bytes at a time. */

const GROUP: usize = 12;
const ENCODED_GROUP: usize = 16;

/**
 * Writes the base64 of the bytes from `from` on, and returns its length. It reads 15 bytes more, of which the first three
 * must be 0, and may write 15 bytes more.
 */
export function encodeBase64(to: usize, from: usize, length: usize): usize {
  let target = to;
  for (let p = from; p < from + length; p += GROUP) {
    v128.store(target, digitsOf(sixBitsOf(v128.load(p))));
    target += ENCODED_GROUP;
  }
  const end = to + ((length + 2) / 3) * 4;
  const missing = (3 - (length % 3)) % 3;
  for (let p = end - missing; p < end; p += 1) store<u8>(p, 0x3d);
  return end - to;
}

/** Splits twelve bytes into sixteen numbers of six bits. */
function sixBitsOf(bytes: v128): v128 {
  // Each lane of 32 bits holds three bytes, the first of them as its highest.
  const three = i8x16.swizzle(bytes, i8x16(2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1));
  const first = v128.and(i32x4.shr_u(three, 18), i32x4.splat(0x3f));
  const second = v128.and(i32x4.shr_u(three, 4), i32x4.splat(0x3f00));
  const third = v128.and(i32x4.shl(three, 10), i32x4.splat(0x3f_0000));
  const fourth = v128.and(i32x4.shl(three, 24), i32x4.splat(0x3f00_0000));
  return v128.or(v128.or(first, second), v128.or(third, fourth));
}

/** Adds to each number what lies between it and its digit: that differs for A to Z, a to z, 0 to 9, + and /. */
function digitsOf(numbers: v128): v128 {
  // 0 for a to z, 1 to 10 for 0 to 9, 11 for +, 12 for /, and 13 for A to Z.
  const beyondLetters = i8x16.sub_sat_u(numbers, i8x16.splat(51));
  const isCapital = i8x16.lt_u(numbers, i8x16.splat(26));
  const kind = v128.or(beyondLetters, v128.and(isCapital, i8x16.splat(13)));
  const distances = i8x16(71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 65, 0, 0);
  return i8x16.add(numbers, i8x16.swizzle(distances, kind));
}
