import {
  CHAIN_NAME_SLOT,
  CONDITION_BYTES,
  CONDITION_WANTED,
  DONE,
  IS_LIST,
  ODD,
  OUTPUT,
  PLAN,
  RESULT,
  RESULT_OUTPUT_END,
  RESULT_STOP,
  ROW_IS_ODD,
  ROW_RECORD,
  SPAN_BYTES,
  SPAN_LENGTH,
  STEP_BYTES,
  STEP_DETAILS,
  STEP_KIND,
  STEP_PREFIX,
  STEP_SLOT,
  STEPS,
  TEXTS,
  TEXTS_CURSORS,
  VIEW_ABSENT,
  VIEW_CONDITIONS,
  VIEW_PLAN,
  VIEW_PRESENT,
} from '../../src/upstream/kernel/layout';
import { COMMA, LIST, LIST_END, OBJECT_END } from './bytes';
import { isSame } from './copy';
import { writeChainFact, writeChainId, writeGlobalId, writeLowLiquidity, writeWord } from './derived';
import { emit, emitBoolean, emitByte, emitEmptyList, emitNull, Output, stopItem } from './output';
import { Step } from './plan';
import { rowAt } from './rows';
import { hasBackslash } from './scanner';
import { spanLength, spanStart } from './slot';

const CURSORS: usize = TEXTS + TEXTS_CURSORS;

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
      Cursor.span = CURSORS + <usize>(item - from) * SPAN_BYTES;
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
    emit(load<u32>(step, STEP_PREFIX), load<u32>(step, STEP_PREFIX + SPAN_LENGTH));
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
      return load<u32>(slot, SPAN_LENGTH) === IS_LIST ? writeRecords(details, first) : emitNull();
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
    case Step.chainFact:
      return writeChainFact(details, record);
    case Step.chainId:
      return first === 0
        ? writeChainId(record + <usize>load<u32>(details, CHAIN_NAME_SLOT))
        : emit(first, spanLength(slot));
    default:
      return first === 0 ? emitNull() : writeWord(details, first, spanLength(slot));
  }
}

function writeView(details: usize, record: usize): void {
  const present = load<u32>(details, VIEW_PRESENT);
  const first = details + VIEW_CONDITIONS;
  const behind = first + <usize>present * CONDITION_BYTES;
  const isPresent =
    (present === 0 || holdsAny(first, present, record)) &&
    !holdsAny(behind, load<u32>(details, VIEW_ABSENT), record);
  if (isPresent) writeRecord(load<u32>(details, VIEW_PLAN), record);
  else emitNull();
}

function holdsAny(first: usize, count: u32, record: usize): bool {
  const end = first + <usize>count * CONDITION_BYTES;
  for (let condition = first; condition < end; condition += CONDITION_BYTES) {
    const slot = record + <usize>load<u32>(condition);
    const start = spanStart(slot);
    if (start === 0) continue;
    const wanted = condition + CONDITION_WANTED;
    if (spanStart(wanted) === 0) return true;
    const length = spanLength(slot);
    if (hasBackslash(start, start + length)) stopItem(ODD);
    if (length === spanLength(wanted) && isSame(start, spanStart(wanted), length)) return true;
  }
  return false;
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
