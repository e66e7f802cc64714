import {
  FIELD_BYTES,
  LIST_IDENTITY,
  LIST_MEMBERS,
  LIST_TABLE,
  LIST_TIME,
  MEMBERS,
  PADDING,
  PAGE,
  RESULT,
  RESULT_HEAP_END,
  RESULT_MEMBERS,
  RESULT_REPEATS,
  ROW_END,
  ROW_HASH,
  ROW_IS_ODD,
  ROW_RECORD,
  ROW_START,
  ROW_TIME,
  SPAN_BYTES,
} from '../../src/upstream/kernel/layout';
import { byteAt, COMMA, LIST, LIST_END, OBJECT, OBJECT_END, QUOTE } from './bytes';
import { startExact } from './exact';
import { Heap, startHeap } from './heap';
import { hasRepeats, identityHash, markIdentity, startIdentities } from './identity';
import { countName, startNames } from './names';
import { Item, newRecord, readRecord } from './record';
import { MAX_ROWS, rowAt } from './rows';
import { afterSpace, hasBackslash, stringEnd } from './scanner';
import { skip, valueAfterName } from './skip';
import { setSpan } from './slot';
import { isNamed } from './table';
import { Time } from './time';

/**
 * Indexes the body of `length` bytes at PAGE. `heapEnd` is where its heap must end. Returns the number of items. Traps for
 * a body that is left to the plain parser: no JSON, an unusual envelope, more than `maxItems`, too dense.
 */
export function index(length: u32, list: usize, maxItems: u32, heapEnd: usize): u32 {
  const end = PAGE + <usize>length;
  startHeap(end + PADDING, heapEnd);
  startNames();
  startExact();
  startIdentities(min(maxItems, MAX_ROWS));
  memory.fill(RESULT, 0, RESULT_MEMBERS + <usize>MEMBERS * SPAN_BYTES);
  let count: i32 = -1;
  let p = afterSpace(PAGE);
  if (byteAt(p) !== OBJECT) unreachable();
  p = afterSpace(p + 1);
  while (true) {
    if (byteAt(p) !== QUOTE) unreachable();
    const nameEnd = stringEnd(p + 1);
    if (hasBackslash(p, nameEnd)) unreachable();
    const member = memberAt(p, list);
    if (member === MEMBERS) countName(p + 1, nameEnd, 0);
    p = valueAfterName(nameEnd + 1);
    const start = p;
    if (member === 0) {
      if (count >= 0) unreachable();
      count = <i32>readItems(p, list, min(maxItems, MAX_ROWS));
      p = Items.end;
    } else p = skip(p);
    if (member < MEMBERS) setMember(member, start, p);
    p = afterSpace(p);
    const next = byteAt(p);
    p = afterSpace(p + 1);
    if (next === OBJECT_END) break;
    if (next !== COMMA) unreachable();
  }
  if (count < 0 || p !== end) unreachable();
  store<u32>(RESULT, <u32>Heap.top, RESULT_HEAP_END);
  store<u32>(RESULT, <u32>hasRepeats(), RESULT_REPEATS);
  return <u32>count;
}

class Items {
  static end: usize = 0;
}

/** Returns the number of the member whose name lies at `p`; MEMBERS for any other. */
function memberAt(p: usize, list: usize): u32 {
  for (let member: u32 = 0; member < MEMBERS; member += 1)
    if (isNamed(p, list + LIST_MEMBERS + <usize>member * FIELD_BYTES)) return member;
  return MEMBERS;
}

/** Traps for a member that the page has twice. */
function setMember(member: u32, start: usize, end: usize): void {
  const span = RESULT + RESULT_MEMBERS + <usize>member * SPAN_BYTES;
  if (load<u32>(span) !== 0) unreachable();
  setSpan(span, start, end);
}

/** Reads the list of items at `start`, and returns how many it has. */
function readItems(start: usize, list: usize, maxItems: u32): u32 {
  if (byteAt(start) !== LIST) unreachable();
  let count: u32 = 0;
  let p = afterSpace(start + 1);
  if (byteAt(p) === LIST_END) p += 1;
  else
    while (true) {
      if (count === maxItems) unreachable();
      p = readItem(p, list, rowAt(count));
      count += 1;
      p = afterSpace(p);
      const next = byteAt(p);
      p += 1;
      if (next === LIST_END) break;
      if (next !== COMMA) unreachable();
      p = afterSpace(p);
    }
  Items.end = p;
  return count;
}

function readItem(start: usize, list: usize, row: usize): usize {
  const table: usize = load<u32>(list, LIST_TABLE);
  const record = Heap.top;
  Item.isOdd = false;
  let end = start;
  if (byteAt(start) === OBJECT) end = readRecord(start, table, newRecord(table));
  else {
    Item.isOdd = true;
    end = skip(start);
  }
  store<u32>(row, <u32>start, ROW_START);
  store<u32>(row, <u32>end, ROW_END);
  store<u32>(row, <u32>record, ROW_RECORD);
  const hash = Item.isOdd ? 0 : identityHash(record, list + LIST_IDENTITY);
  store<u32>(row, hash === 0 ? 1 : 0, ROW_IS_ODD);
  store<f64>(row, load<u32>(list, LIST_TIME) === 0 ? 0 : Time.ms, ROW_TIME);
  store<u64>(row, hash, ROW_HASH);
  if (hash !== 0) markIdentity(row, ROW_HASH);
  return end;
}
