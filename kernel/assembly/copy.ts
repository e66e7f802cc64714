/** Copies and clears in steps of 16 bytes: faster for short texts than the engine's own. */

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
