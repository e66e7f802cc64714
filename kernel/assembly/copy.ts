/** Copies, clears and compares in steps of 16 bytes: faster for short texts than the engine's own. */

/** May read and write 15 bytes more. At least 16 are written. */
export function copyBytes(to: usize, from: usize, length: usize): void {
  const end = to + length;
  let source = from;
  let target = to;
  do {
    v128.store(target, v128.load(source));
    target += 16;
    source += 16;
  } while (target < end);
}

/** May write 15 bytes more. */
export function clearBytes(from: usize, length: usize): void {
  const zeros = i8x16.splat(0);
  for (let p = from; p < from + length; p += 16) v128.store(p, zeros);
}

/** Whether the texts are the same. It may read 15 bytes more of each. */
export function isSame(one: usize, other: usize, length: usize): bool {
  for (let at: usize = 0; at < length; at += 16) {
    const equal = i8x16.bitmask(i8x16.eq(v128.load(one + at), v128.load(other + at)));
    if (at + <usize>ctz(~equal) < length && equal !== 0xffff) return false;
  }
  return true;
}
