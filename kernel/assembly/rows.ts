import { ROWS, ROWS_END } from './layout';

/** One row an item: where its JSON lies, its record, whether it is odd, its time, and a hash of its identity. */
export const ROW_BYTES: usize = 32;
export const ROW_START: usize = 0;
export const ROW_END: usize = 4;
export const ROW_RECORD: usize = 8;
export const ROW_IS_ODD: usize = 12;
/** Milliseconds since 1970, as a float of eight bytes. */
export const ROW_TIME: usize = 16;
export const ROW_HASH: usize = 24;

export const MAX_ROWS: u32 = <u32>(ROWS_END - ROWS) / <u32>ROW_BYTES;

export function rowAt(index: u32): usize {
  return ROWS + <usize>index * ROW_BYTES;
}
