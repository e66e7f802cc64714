import { Heap } from './heap';

/**
 * A record is a link to the next record of its list (4 bytes), then a slot (8 bytes) for each field of its table. A slot
 * holds where the field's JSON lies and how long it is; of a record, where it is; of a list of records, where the first is,
 * and IS_LIST. Zero stands for null.
 */
export const SLOT: usize = 8;

/** The second word of the slot of a list: it tells an empty list from null. */
export const IS_LIST: u32 = 1;

export function setSpan(slot: usize, from: usize, end: usize): void {
  store<u32>(slot, <u32>from);
  store<u32>(slot, <u32>(end - from), 4);
}

/** Sets the span of the text that was just appended to the heap. */
export function setAppended(slot: usize, from: usize): void {
  setSpan(slot, from, Heap.top);
}

export function setList(slot: usize): void {
  store<u32>(slot, IS_LIST, 4);
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
  return load<u32>(slot, 4);
}
