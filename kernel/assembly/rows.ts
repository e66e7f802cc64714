import { ROW_BYTES, ROWS, ROWS_END } from '../../src/upstream/kernel/layout';

export const MAX_ROWS: u32 = <u32>(ROWS_END - ROWS) / <u32>ROW_BYTES;

export function rowAt(index: u32): usize {
  return ROWS + <usize>index * ROW_BYTES;
}
