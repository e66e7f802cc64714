import {
  BIT,
  FIRST,
  IS_REQUIRED,
  KIND,
  NAME_LENGTH,
  NEXT,
  PRESENT_BITS,
  RECORD_BYTES,
  REQUIRED_BITS,
  SLOT_OFFSET,
  TABLE,
} from '../../src/upstream/kernel/layout';
import { byteAt, COMMA, isNull, LIST, LIST_END, OBJECT, OBJECT_END } from './bytes';
import { clearBytes } from './copy';
import { Heap, reserve } from './heap';
import { readHexList } from './hex';
import { countName } from './names';
import { LEFT_OUT } from './scalar';
import { afterSpace, hasBackslash, stringEnd } from './scanner';
import { skip, valueAfterName } from './skip';
import { clear, setList, setRecord } from './slot';
import { findField, isNamed, Kind } from './table';
import { readScalar } from './value';

/** The item that is being read. */
export class Item {
  /** It has something that only the plain reader reads: a malformed field, or a rare form of one. */
  static isOdd: bool = false;
}

/** Of the last record that was read to its end. */
class Last {
  static isPresent: bool = false;
}

/** Allocates an empty record. */
export function newRecord(table: usize): usize {
  const bytes: usize = load<u32>(table, RECORD_BYTES);
  reserve(bytes);
  const record = Heap.top;
  Heap.top += bytes;
  clearBytes(record, bytes);
  return record;
}

/** Reads the object at `start` into a record. Returns its end. */
export function readRecord(start: usize, table: usize, record: usize): usize {
  let seen: u32 = 0;
  let guess = table + FIRST;
  let p = afterSpace(start + 1);
  let next = byteAt(p);
  if (next === OBJECT_END) p += 1;
  while (next !== OBJECT_END) {
    const field = guessedField(p, guess, table);
    if (field === 0) p = skipUnknown(p, table);
    else {
      const bit = load<u32>(field, BIT);
      if ((seen & bit) !== 0) Item.isOdd = true;
      seen |= bit;
      guess = field + NEXT;
      p = valueAfterName(p + <usize>load<u32>(field, NAME_LENGTH));
      p = readField(p, field, record);
    }
    p = afterSpace(p);
    next = byteAt(p);
    p += 1;
    if (next === COMMA) p = afterSpace(p);
    else if (next !== OBJECT_END) unreachable();
  }
  const required = load<u32>(table, REQUIRED_BITS);
  if ((seen & required) !== required) Item.isOdd = true;
  const present = load<u32>(table, PRESENT_BITS);
  Last.isPresent = present === 0 || (seen & present) !== 0;
  return p;
}

/** Returns the field whose name lies at `p`; 0 for an unknown name. A wrong guess is corrected. */
function guessedField(p: usize, guess: usize, table: usize): usize {
  const guessed: usize = load<u32>(guess);
  if (isNamed(p, guessed)) return guessed;
  const field = findField(p, table);
  if (field !== 0) store<u32>(guess, <u32>field);
  return field;
}

/** Returns the end of a value whose name the table does not have. With an escape it might be a known one. */
function skipUnknown(p: usize, table: usize): usize {
  const end = stringEnd(p + 1);
  if (hasBackslash(p, end)) Item.isOdd = true;
  countName(p + 1, end, <u32>table);
  return skip(valueAfterName(end + 1));
}

/** Reads the value at `p` into the slot of its field. Returns its end. */
function readField(p: usize, field: usize, record: usize): usize {
  const kind = <i32>load<u32>(field, KIND);
  if (kind === Kind.inline)
    return byteAt(p) === OBJECT ? readRecord(p, load<u32>(field, TABLE), record) : skip(p);
  const slot = record + <usize>load<u32>(field, SLOT_OFFSET);
  const isRequired = load<u32>(field, IS_REQUIRED) !== 0;
  const end = kind >= Kind.hexList ? readNested(p, kind, field, slot) : readScalar(p, kind, isRequired, slot);
  if (end > LEFT_OUT) return end;
  if (end !== LEFT_OUT) Item.isOdd = true;
  return skip(p);
}

/** As `readScalar`, of a list or a record. */
function readNested(p: usize, kind: i32, field: usize, slot: usize): usize {
  const byte = byteAt(p);
  if (kind === Kind.lenientObject)
    return byte === OBJECT ? readOptional(p, load<u32>(field, TABLE), slot) : LEFT_OUT;
  if (byte !== LIST) {
    if (kind === Kind.lenient || kind === Kind.lenientOrNull) return LEFT_OUT;
    return isNull(p) ? p + 4 : 0;
  }
  if (kind === Kind.hexList) return readHexList(p, slot);
  return readRecords(p, load<u32>(field, TABLE), slot, kind === Kind.strict);
}

function readOptional(p: usize, table: usize, slot: usize): usize {
  const record = newRecord(table);
  setRecord(slot, record);
  const end = readRecord(p, table, record);
  if (!Last.isPresent) clear(slot);
  return end;
}

/** Links the records of the list at `start`. What is no object is left out; with `isStrict` it is odd. */
function readRecords(start: usize, table: usize, slot: usize, isStrict: bool): usize {
  setList(slot);
  let link = slot;
  let p = afterSpace(start + 1);
  if (byteAt(p) === LIST_END) return p + 1;
  while (true) {
    if (byteAt(p) === OBJECT) {
      const record = newRecord(table);
      store<u32>(link, <u32>record);
      link = record;
      p = readRecord(p, table, record);
    } else {
      if (isStrict) Item.isOdd = true;
      p = skip(p);
    }
    p = afterSpace(p);
    const next = byteAt(p);
    if (next === LIST_END) return p + 1;
    if (next !== COMMA) unreachable();
    p = afterSpace(p + 1);
  }
}
