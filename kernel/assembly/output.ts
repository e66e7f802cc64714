import { DONE, FULL, OUTPUT, OUTPUT_END } from '../../src/upstream/kernel/layout';
import { FALS_WORD, TRUE_WORD } from './bytes';
import { copyBytes } from './copy';

/** What has been written, and the beginning of the item that is being written. */
export class Output {
  static top: usize = OUTPUT;
  static item: usize = OUTPUT;
  static stop: u32 = DONE;
}

/** Room for what is written without a check between two checks: a few brackets, a literal, what a copy writes beyond. */
const SLACK: usize = 128;

/** Gives the item up. Its writing goes on at its beginning, so that it stays within the output. */
export function stopItem(reason: u32): void {
  if (Output.stop !== FULL) Output.stop = reason;
  Output.top = Output.item;
}

/** Appends bytes, where there is room for them. */
export function emit(from: usize, length: usize): void {
  if (length > OUTPUT_END - SLACK - Output.item || Output.top + length > OUTPUT_END - SLACK)
    return stopItem(FULL);
  copyBytes(Output.top, from, length);
  Output.top += length;
}

/** Appends a byte without a check. */
export function emitByte(byte: u32): void {
  store<u8>(Output.top, byte);
  Output.top += 1;
}

export function emitNull(): void {
  store<u32>(Output.top, 0x6c6c_756e);
  Output.top += 4;
}

export function emitBoolean(isTrue: bool): void {
  store<u32>(Output.top, isTrue ? TRUE_WORD : FALS_WORD);
  store<u8>(Output.top, 0x65, 4);
  Output.top += isTrue ? 4 : 5;
}

export function emitEmptyList(): void {
  store<u16>(Output.top, 0x5d5b);
  Output.top += 2;
}
