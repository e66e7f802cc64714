import { PAGE, TEXTS } from '../../src/upstream/kernel/layout';

/** Returns whether the body of `length` bytes at PAGE has the text of `textLength` bytes at TEXTS, which has one at least. */
export function contains(length: u32, textLength: u32): bool {
  const offset = <usize>textLength - 1;
  const first = i8x16.splat(load<i8>(TEXTS));
  const last = i8x16.splat(load<i8>(TEXTS + offset));
  const end = PAGE + <usize>length;
  // A load reads at most 15 bytes of the padding.
  for (let p = PAGE; p + offset < end; p += 16) {
    const both = v128.and(i8x16.eq(v128.load(p), first), i8x16.eq(v128.load(p + offset), last));
    for (let found = i8x16.bitmask(both); found !== 0; found &= found - 1) {
      const start = p + <usize>ctz(found);
      if (start + offset < end && isTextAt(start, offset)) return true;
    }
  }
  return false;
}

function isTextAt(start: usize, offset: usize): bool {
  for (let at: usize = 0; at < offset; at += 1)
    if (load<u8>(start + at) !== load<u8>(TEXTS + at)) return false;
  return true;
}
