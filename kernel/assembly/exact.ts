import { Heap, reserve } from './heap';
import { exactNumber } from './host';

class Calls {
  static count: u32 = 0;
}

/** A page with more such numbers would keep the host busy: its further items are left to the plain reader. */
const MAX_CALLS: u32 = 10_000;
/** A number with an exponent gets up to a hundred zeros. */
const MAX_GROWTH: usize = 128;

export function startExact(): void {
  Calls.count = 0;
}

/** Lets the host append the JSON of a number that is not plain. Returns false where there is none. */
export function appendExact(from: usize, end: usize, style: u32): bool {
  Calls.count += 1;
  if (Calls.count > MAX_CALLS) return false;
  const capacity = end - from + MAX_GROWTH;
  reserve(capacity);
  const length = exactNumber(<u32>from, <u32>end, style, <u32>Heap.top, <u32>capacity);
  if (length <= 0 || <usize>length > capacity) return false;
  Heap.top += <usize>length;
  return true;
}
