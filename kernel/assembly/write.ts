import { COMMA, LIST, LIST_END, OBJECT_END } from './bytes';
import { writeChainId, writeGlobalId, writeLowLiquidity, writeWord } from './derived';
import { OUTPUT, PLAN, RESULT, TEXTS } from './layout';
import { DONE, emit, emitBoolean, emitByte, emitEmptyList, emitNull, ODD, Output, stopItem } from './output';
import {
  STEP_BYTES,
  STEP_DETAILS,
  STEP_KIND,
  STEP_PREFIX,
  STEP_PREFIX_LENGTH,
  STEP_SLOT,
  STEPS,
  Step,
} from './plan';
import { ROW_IS_ODD, ROW_RECORD, rowAt } from './rows';
import { IS_LIST, spanLength, spanStart } from './slot';

/** In RESULT: the end of the output, and why it ends there. */
const RESULT_OUTPUT_END: usize = 0;
const RESULT_STOP: usize = 4;

/** TEXTS: the address in quotes as a span; from CURSORS on, the spans of the cursors of the items that are written. */
const CURSORS: usize = TEXTS + 8;

class Cursor {
  static span: usize = 0;
}

/**
 * Writes the items from `from` on by the plan at PLAN, with commas between. Returns the index of the first that it did not
 * write: `to`, or one that is odd, or one that the output has no room for.
 */
export function write(from: u32, to: u32): u32 {
  Output.top = OUTPUT;
  Output.stop = DONE;
  let item = from;
  for (; item < to; item += 1) {
    const row = rowAt(item);
    Output.item = Output.top;
    if (load<u32>(row, ROW_IS_ODD) !== 0) stopItem(ODD);
    else {
      Cursor.span = CURSORS + <usize>(item - from) * 8;
      if (item !== from) emitByte(COMMA);
      writeRecord(PLAN, load<u32>(row, ROW_RECORD));
    }
    if (Output.stop !== DONE) {
      Output.top = Output.item;
      break;
    }
  }
  store<u32>(RESULT, <u32>Output.top, RESULT_OUTPUT_END);
  store<u32>(RESULT, Output.stop, RESULT_STOP);
  return item;
}

function writeRecord(plan: usize, record: usize): void {
  const end = plan + STEPS + <usize>load<u32>(plan) * STEP_BYTES;
  for (let step = plan + STEPS; step < end; step += STEP_BYTES) {
    emit(load<u32>(step, STEP_PREFIX), load<u32>(step, STEP_PREFIX_LENGTH));
    const slot = record + <usize>load<u32>(step, STEP_SLOT);
    const kind = <i32>load<u32>(step, STEP_KIND);
    if (kind === Step.span) writeSpan(slot);
    else if (kind !== Step.literal) writeStep(kind, step, slot, record);
  }
  emitByte(OBJECT_END);
}

function writeSpan(slot: usize): void {
  const start = spanStart(slot);
  if (start === 0) emitNull();
  else emit(start, spanLength(slot));
}

function writeStep(kind: i32, step: usize, slot: usize, record: usize): void {
  const details: usize = load<u32>(step, STEP_DETAILS);
  const first = spanStart(slot);
  switch (kind) {
    case Step.records:
      return writeRecords(details, first);
    case Step.list:
      return first === 0 ? emitEmptyList() : emit(first, spanLength(slot));
    case Step.record:
      return first === 0 ? emitNull() : writeRecord(details, first);
    case Step.recordsOrNull:
      return load<u32>(slot, 4) === IS_LIST ? writeRecords(details, first) : emitNull();
    case Step.node:
      return writeRecord(details, record);
    case Step.cursor:
      return writeSpan(Cursor.span);
    case Step.subject:
      return writeSpan(TEXTS);
    case Step.globalId:
      return writeGlobalId(details, record);
    case Step.view:
      return writeView(details, record);
    case Step.isNull:
      return emitBoolean(first === 0);
    case Step.lowLiquidity:
      return writeLowLiquidity(details, record);
    case Step.chainId:
      return first === 0 ? writeChainId(record + <usize>load<u32>(details)) : emit(first, spanLength(slot));
    default:
      return first === 0 ? emitNull() : writeWord(details, first, spanLength(slot));
  }
}

/** Of a view: its plan, how many slots decide whether it is null, then these slots. */
const VIEW_PLAN: usize = 0;
const VIEW_SLOTS: usize = 4;
const VIEW_FIRST: usize = 8;

function writeView(details: usize, record: usize): void {
  const slots = load<u32>(details, VIEW_SLOTS);
  let isPresent = slots === 0;
  for (let index: u32 = 0; index < slots && !isPresent; index += 1)
    isPresent = spanStart(record + <usize>load<u32>(details + ((<usize>index) << 2), VIEW_FIRST)) !== 0;
  if (isPresent) writeRecord(load<u32>(details, VIEW_PLAN), record);
  else emitNull();
}

function writeRecords(plan: usize, first: usize): void {
  emitByte(LIST);
  for (let record = first; record !== 0; record = load<u32>(record)) {
    if (record !== first) emitByte(COMMA);
    writeRecord(plan, record);
    if (Output.stop !== DONE) return;
  }
  emitByte(LIST_END);
}
