import { EXACT, EXACT_TEXT } from '../../src/upstream/kernel/layout';
import { byteAt, COMMA, isDigit, LIST, literalEnd, MINUS, NULL_WORD, OBJECT, QUOTE } from './bytes';
import { isSame } from './copy';
import { appendExact } from './exact';
import { append, appendQuoted, Heap, push, reserve } from './heap';
import { countName } from './names';
import { Numeric, numberEnd } from './number';
import { afterSpace, hasBackslash, Scanner, stringEnd } from './scanner';
import { valueAfterName } from './skip';
import { appendString } from './string';

/**
 * Appends any JSON as JSON.stringify writes what the exact parser reads: without white space, with canonical strings and
 * numbers. It gives up at what would take more: names that are numbers (they move to the front), equal or escaped names,
 * many names, and more levels than a value may have.
 */

const MAX_LEVELS: usize = 200;
const opened = memory.data(200);
/** How many names were open before each open object. */
const firstNames = memory.data(200);
/** Where each name of the open objects lies, and its length. */
const MAX_NAMES: u32 = 128;
const names = memory.data(8 * 128);

class Writer {
  /** Whether what was appended differs from the source by more than white space. */
  static changed: bool = false;
  /** Whether numbers and booleans become strings, except in objects. */
  static asTexts: bool = false;
  /** How many lists and objects are open, how many of them are objects, and how many names those have. */
  static level: usize = 0;
  static openObjects: u32 = 0;
  static openNames: u32 = 0;
}

/**
 * Appends the value at `start`. Returns its end; 0 where it gives up, and the caller resets the heap. `isUnchanged` tells
 * whether the source has the same bytes.
 */
export function appendJson(start: usize, asTexts: bool): usize {
  Writer.changed = false;
  Writer.asTexts = asTexts;
  Writer.level = 0;
  Writer.openObjects = 0;
  Writer.openNames = 0;
  let p = start;
  do {
    p = appendFirstScalar(p);
    if (p !== 0) p = appendParts(p);
  } while (p !== 0 && Writer.level > 0);
  return p;
}

/** Opens lists and objects. Returns the end of the first scalar in them, or the address of an end that follows at once. */
function appendFirstScalar(start: usize): usize {
  let p = start;
  for (let byte = byteAt(p); byte === OBJECT || byte === LIST; byte = byteAt(p)) {
    if (Writer.level === MAX_LEVELS) return 0;
    open(byte);
    p = afterSpace(p + 1);
    if (byteAt(p) === byte + 2) return p;
    if (byte === OBJECT) p = appendName(p);
    if (p === 0) return 0;
  }
  return appendScalar(p);
}

/** Closes the lists and objects that end here. Returns the address of the next value; the end, when all are closed. */
function appendParts(start: usize): usize {
  let p = start;
  while (Writer.level > 0) {
    p = afterSpace(p);
    const opening = <u32>load<u8>(opened + Writer.level - 1);
    const next = byteAt(p);
    reserve(1);
    push(next);
    p += 1;
    if (next === opening + 2) close(opening);
    else {
      if (next !== COMMA) unreachable();
      p = afterSpace(p);
      return opening === OBJECT ? appendName(p) : p;
    }
  }
  return p;
}

/** Whether the last value was written with the same bytes as in the source, where it has `sourceLength` bytes. */
export function isUnchanged(from: usize, sourceLength: usize): bool {
  return !Writer.changed && Heap.top - from === sourceLength;
}

function open(byte: u32): void {
  reserve(1);
  push(byte);
  store<u8>(opened + Writer.level, byte);
  store<u8>(firstNames + Writer.level, Writer.openNames);
  Writer.level += 1;
  if (byte === OBJECT) Writer.openObjects += 1;
}

function close(opening: u32): void {
  Writer.level -= 1;
  Writer.openNames = <u32>load<u8>(firstNames + Writer.level);
  if (opening === OBJECT) Writer.openObjects -= 1;
}

/** Appends a string, a number or a literal. Returns its end; 0 for a number that is left to the host. */
function appendScalar(p: usize): usize {
  const byte = byteAt(p);
  if (byte === QUOTE) {
    Scanner.escaped = false;
    const end = stringEnd(p + 1) + 1;
    if (Scanner.escaped) {
      Writer.changed = true;
      appendString(p, end);
    } else append(p, end);
    return end;
  }
  const becomesText = Writer.asTexts && Writer.openObjects === 0;
  const isNumber = byte === MINUS || isDigit(byte);
  const end = isNumber ? numberEnd(p) : literalEnd(p);
  if (end === 0) unreachable();
  if (isNumber && !Numeric.plain) {
    Writer.changed = true;
    return appendExact(p, end, becomesText ? EXACT_TEXT : EXACT) ? end : 0;
  }
  if (becomesText && load<u32>(p) !== NULL_WORD) {
    Writer.changed = true;
    appendQuoted(p, end);
  } else append(p, end);
  return end;
}

/** Appends the name at `p` and its colon. Returns the address of its value; 0 where `appendJson` gives up. */
function appendName(p: usize): usize {
  if (byteAt(p) !== QUOTE) unreachable();
  const end = stringEnd(p + 1);
  countName(p + 1, end, <u32>Writer.level);
  const first = <u32>load<u8>(firstNames + Writer.level - 1);
  if (isDigit(byteAt(p + 1)) || hasBackslash(p, end) || Writer.openNames === MAX_NAMES) return 0;
  for (let index = first; index < Writer.openNames; index += 1) if (isName(index, p + 1, end)) return 0;
  const entry = names + ((<usize>Writer.openNames) << 3);
  store<u32>(entry, <u32>(p + 1));
  store<u32>(entry, <u32>(end - p - 1), 4);
  Writer.openNames += 1;
  append(p, end + 1);
  reserve(1);
  push(0x3a);
  return valueAfterName(end + 1);
}

function isName(index: u32, from: usize, end: usize): bool {
  const entry = names + ((<usize>index) << 3);
  const length: usize = load<u32>(entry, 4);
  return length === end - from && isSame(load<u32>(entry), from, length);
}
