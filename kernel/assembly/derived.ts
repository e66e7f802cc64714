import {
  CHAIN_ENTRIES,
  CHAIN_ENTRY_BYTES,
  CHAIN_ENTRY_VALUES,
  CHAINS,
  FACT_CHAIN,
  FACT_OWN,
  FACT_TOKEN,
  FACT_VALUE,
  ID_NULL,
  ID_PARTS,
  ID_SLOTS,
  ID_TYPE,
  LIQUIDITY_POOL_SIZE,
  LIQUIDITY_STATED,
  LIQUIDITY_TOKEN,
  NO_SLOT,
  ODD,
  SPAN_BYTES,
  SUBJECT_SLOT,
  TEXTS,
  WORD_COUNT,
  WORD_IS_COMPACT,
  WORD_SPANS,
} from '../../src/upstream/kernel/layout';
import { encodeBase64 } from './base64';
import { BACKSLASH, byteAt, isDigit, MINUS, QUOTE, ZERO } from './bytes';
import { copyBytes, isSame } from './copy';
import { emit, emitBoolean, emitByte, emitNull, stopItem } from './output';
import { hasBackslash } from './scanner';
import { spanLength, spanStart } from './slot';

/** Fields that upstream does not send as they are: they are made of others. */

const MAX_ID: usize = 1024;
const id = memory.data(1024 + 32);
/** Three bytes are four digits. */
const encoded = memory.data(1400);

class Id {
  static length: usize = 0;
}

/** Writes the base64 of `Type:part:part`. */
export function writeGlobalId(details: usize, record: usize): void {
  Id.length = 0;
  addText(spanStart(details + ID_TYPE), spanLength(details + ID_TYPE));
  const parts = load<u32>(details, ID_PARTS);
  for (let part: u32 = 0; part < parts; part += 1) {
    const offset = load<u32>(details + ID_SLOTS + ((<usize>part) << 2));
    if (part > 0) addText(colon, 1);
    const slot = offset === SUBJECT_SLOT ? TEXTS : slotAt(record, offset);
    addJson(spanStart(slot) === 0 ? details + ID_NULL : slot);
  }
  if (Id.length > MAX_ID) return stopItem(ODD);
  const length = encode();
  emit(encoded, length);
}

const noValue = memory.data<u32>([0, 0]);

function slotAt(record: usize, offset: u32): usize {
  return offset === NO_SLOT ? noValue : record + <usize>offset;
}

const colon = memory.data<u8>([0x3a]);

/** A length beyond MAX_ID means that the id can not be written here. */
function addText(start: usize, length: usize): void {
  if (Id.length + length <= MAX_ID) copyBytes(id + Id.length, start, length);
  Id.length += length;
}

/** Adds the text of a string or a number. One with an escape, and null, are left to the object writer. */
function addJson(slot: usize): void {
  const start = spanStart(slot);
  const length = spanLength(slot);
  if (start === 0 || length > MAX_ID || hasBackslash(start, start + length)) Id.length = MAX_ID + 1;
  else if (byteAt(start) === QUOTE) addText(start + 1, length - 2);
  else addText(start, length);
}

/** Encodes the id in quotes, and returns the length. */
function encode(): usize {
  v128.store(id + Id.length, i8x16.splat(0));
  store<u8>(encoded, QUOTE);
  const length = encodeBase64(encoded + 1, id, Id.length);
  store<u8>(encoded + 1 + length, QUOTE);
  return length + 2;
}

/** Dollars of fewer digits before the point are less than 10,000. */
const LIQUID_DIGITS: usize = 5;

/** Writes what upstream says; else whether the pool is small; else false for the chain's own currency, which has no address; else null. */
export function writeLowLiquidity(details: usize, record: usize): void {
  const stated = slotAt(record, load<u32>(details, LIQUIDITY_STATED));
  if (spanStart(stated) !== 0) return emit(spanStart(stated), spanLength(stated));
  const size = slotAt(record, load<u32>(details, LIQUIDITY_POOL_SIZE));
  if (spanStart(size) !== 0) return emitBoolean(isSmall(spanStart(size) + 1));
  if (spanStart(slotAt(record, load<u32>(details, LIQUIDITY_TOKEN))) === 0) emitBoolean(false);
  else emitNull();
}

/** Whether a decimal is less than 10,000. */
function isSmall(start: usize): bool {
  if (byteAt(start) === MINUS) return true;
  let p = start;
  while (byteAt(p) === ZERO) p += 1;
  let digits: usize = 0;
  while (isDigit(byteAt(p + digits))) digits += 1;
  return digits < LIQUID_DIGITS;
}

/** Returns the entry of the chain whose name or id is in the slot; 0 for an unknown one. */
function findChain(slot: usize): usize {
  const name = spanStart(slot);
  const length = spanLength(slot);
  const mask = load<u32>(CHAINS);
  let hash: u32 = 0x811c_9dc5;
  for (let p = name; p < name + length; p += 1) hash = (hash ^ byteAt(p)) * 0x0100_0193;
  let entry = hash & mask;
  let found = entryAt(entry);
  while (
    spanStart(found) !== 0 &&
    !(spanLength(found) === length && isSame(spanStart(found), name, length))
  ) {
    entry = (entry + 1) & mask;
    found = entryAt(entry);
  }
  return spanStart(found) === 0 ? 0 : found;
}

function entryAt(entry: u32): usize {
  return CHAINS + CHAIN_ENTRIES + <usize>entry * CHAIN_ENTRY_BYTES;
}

function writeSlot(slot: usize): void {
  if (spanStart(slot) === 0) emitNull();
  else emit(spanStart(slot), spanLength(slot));
}

/** Writes the id of the chain whose name is in the slot; null for an unknown one. */
export function writeChainId(slot: usize): void {
  const entry = findChain(slot);
  writeSlot(entry === 0 ? noValue : entry + CHAIN_ENTRY_VALUES);
}

/** Writes what is known of the record's chain; for the token of a contract, and where it is not known, what the record says itself. */
export function writeChainFact(details: usize, record: usize): void {
  const own = slotAt(record, load<u32>(details, FACT_OWN));
  if (spanStart(slotAt(record, load<u32>(details, FACT_TOKEN))) !== 0) return writeSlot(own);
  const chain = slotAt(record, load<u32>(details, FACT_CHAIN));
  const entry: usize = spanStart(chain) === 0 ? 0 : findChain(chain);
  const value = entry + <usize>load<u32>(details, FACT_VALUE);
  writeSlot(entry === 0 || spanStart(value) === 0 ? own : value);
}

const MAX_WORD: usize = 64;
const word = memory.data(64 + 16);

/** Writes the word that the string is in capitals; null for an unknown one. */
export function writeWord(details: usize, start: usize, bytes: usize): void {
  const isCompact = load<u32>(details, WORD_IS_COMPACT) !== 0;
  let length: usize = 0;
  for (let p = start + 1; p < start + bytes - 1; p += 1) {
    let byte = byteAt(p);
    // Other letters may have ASCII ones as their capitals.
    if (byte >= 0x80 || byte === BACKSLASH) return stopItem(ODD);
    if (byte - 0x61 < 26) byte -= 0x20;
    if (isCompact && byte - 0x41 >= 26 && byte - 0x30 >= 10) continue;
    if (length === MAX_WORD) return emitNull();
    store<u8>(word + length, byte);
    length += 1;
  }
  const count = load<u32>(details, WORD_COUNT);
  for (let index: u32 = 0; index < count; index += 1) {
    const span = details + WORD_SPANS + <usize>index * SPAN_BYTES;
    if (spanLength(span) !== length || !isSame(spanStart(span), word, length)) continue;
    emitByte(QUOTE);
    emit(spanStart(span), length);
    return emitByte(QUOTE);
  }
  emitNull();
}
