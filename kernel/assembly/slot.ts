import { IS_LIST, SPAN_LENGTH } from '../../src/upstream/kernel/layout';
import { Heap } from './heap';

/** Slots of records: see layout.ts. */

export function setSpan(slot: usize, from: usize, end: usize): void {
  store<u32>(slot, <u32>from);
  store<u32>(slot, <u32>(end - from), SPAN_LENGTH);
}

/** Sets the span of the text that was just appended to the heap. */
export function setAppended(slot: usize, from: usize): void {
  setSpan(slot, from, Heap.top);
}

export function setList(slot: usize): void {
  store<u32>(slot, IS_LIST, SPAN_LENGTH);
}

export function setRecord(slot: usize, record: usize): void {
  store<u32>(slot, <u32>record);
}

export function clear(slot: usize): void {
  store<u64>(slot, 0);
}

export function spanStart(slot: usize): usize {
  return load<u32>(slot);
}

export function spanLength(slot: usize): usize {
  return load<u32>(slot, SPAN_LENGTH);
}
