import { DECIMAL, EXACT, FLOAT } from '../../src/upstream/kernel/layout';
import {
  byteAt,
  COLON,
  isDigit,
  isNull,
  literalEnd,
  MINUS,
  PLUS,
  POINT,
  QUOTE,
  SLASH,
  SPACE,
  ZERO,
} from './bytes';
import { appendExact } from './exact';
import { append, appendQuoted, Heap, push, reserve } from './heap';
import { appendJson, isUnchanged } from './json';
import { digitsEnd, Numeric, numberEnd } from './number';
import { clear, setAppended, setSpan, spanLength, spanStart } from './slot';
import { readString } from './string';

/** Readers of the values that are no hex, integer or time. Each returns the value's end; 0 where it is left to the host. */

function isNumber(p: usize): bool {
  return byteAt(p) === MINUS || isDigit(byteAt(p));
}

export function readBoolean(p: usize, slot: usize): usize {
  const end: usize = isNull(p) ? 0 : literalEnd(p);
  if (end !== 0) setSpan(slot, p, end);
  return end;
}

/** A JSON number. A string that is a number is left to the host. */
export function readNumber(p: usize, slot: usize): usize {
  return isNumber(p) ? readNumberAs(p, slot, FLOAT) : 0;
}

/** A JSON number in the plain form of an integer of 32 bits. Any other is left to the host, as are those of ten digits. */
export function readInt(p: usize, slot: usize): usize {
  const end: usize = isNumber(p) ? numberEnd(p) : 0;
  if (end === 0 || !Numeric.integer || !Numeric.plain || end - p > MAX_INT_LENGTH) return 0;
  setSpan(slot, p, end);
  return end;
}

const MAX_INT_LENGTH: usize = 9;

/** A number of one or two digits. Other spellings of up to three digits are left to the host, and anything else is null. */
export function readTokenDecimals(p: usize, slot: usize): usize {
  if (byteAt(p) === QUOTE) return maybeTokenDecimals(p + 1) ? 0 : LEFT_OUT;
  if (!isNumber(p)) return LEFT_OUT;
  const end = numberEnd(p);
  if (!Numeric.integer || byteAt(p) === MINUS) return 0;
  const length = end - p;
  if (length > MAX_DECIMALS_LENGTH) return length > MAX_DECIMALS_LENGTH + 1 ? LEFT_OUT : 0;
  setSpan(slot, p, end);
  return end;
}

const MAX_DECIMALS_LENGTH: usize = 2;

/** Whether a string may be one to three digits: it may have them as escapes. */
function maybeTokenDecimals(start: usize): bool {
  let p = start;
  while (isDigit(byteAt(p))) p += 1;
  if (byteAt(p) === BACKSLASH) return true;
  return byteAt(p) === QUOTE && p > start && p - start <= MAX_DECIMALS_LENGTH + 1;
}

const BACKSLASH: u32 = 0x5c;

function readNumberAs(p: usize, slot: usize, style: u32): usize {
  const end = numberEnd(p);
  const from = Heap.top;
  if (style === DECIMAL && Numeric.decimal) setAppended(slot, appendQuoted(p, end));
  else if (Numeric.plain) setSpan(slot, p, end);
  else if (style === DECIMAL && appendScientific(p, end)) setAppended(slot, from);
  else if (appendExact(p, end, style)) setAppended(slot, from);
  else return 0;
  return end;
}

/**
 * Appends a number such as 2.5e-7 or 1e+21 as a string without an exponent. Returns false for forms that JavaScript does not
 * write, and for an exponent of three digits: the host writes those.
 */
function appendScientific(start: usize, end: usize): bool {
  const first = byteAt(start) === MINUS ? start + 1 : start;
  const fraction = first + 2;
  const hasFraction = byteAt(first + 1) === POINT;
  const mantissaEnd = hasFraction ? digitsEnd(fraction) : first + 1;
  const sign = byteAt(mantissaEnd + 1);
  const exponent = mantissaEnd + 2;
  if (byteAt(first) === ZERO || (hasFraction && byteAt(mantissaEnd - 1) === ZERO)) return false;
  if ((sign !== MINUS && sign !== PLUS) || end - exponent > 2) return false;
  let places: usize = 0;
  for (let p = exponent; p < end; p += 1) places = places * 10 + byteAt(p) - ZERO;
  const decimals = hasFraction ? mantissaEnd - fraction : 0;
  if (places === 0 || (sign === PLUS && places < decimals)) return false;
  reserve(end - start + places);
  push(QUOTE);
  if (first > start) push(MINUS);
  if (sign === MINUS) {
    push(ZERO);
    push(POINT);
    pushZeros(places - 1);
  }
  push(byteAt(first));
  if (hasFraction) append(fraction, mantissaEnd);
  if (sign === PLUS) pushZeros(places - decimals);
  push(QUOTE);
  return true;
}

function pushZeros(count: usize): void {
  for (let left = count; left > 0; left -= 1) push(ZERO);
}

/** A number as a string, or a string that is a decimal number without an exponent. A very long one is left to the host. */
export function readDecimal(p: usize, slot: usize): usize {
  const end = readDecimalOfAnyLength(p, slot);
  return end - p > MAX_DECIMAL_LENGTH ? 0 : end;
}

const MAX_DECIMAL_LENGTH: usize = 1000;

function readDecimalOfAnyLength(p: usize, slot: usize): usize {
  if (isNumber(p)) return readNumberAs(p, slot, DECIMAL);
  if (byteAt(p) !== QUOTE) return 0;
  let end = maybeDigits(byteAt(p + 1) === MINUS ? p + 2 : p + 1);
  if (end !== 0 && byteAt(end) === POINT) end = maybeDigits(end + 1);
  if (end === 0 || byteAt(end) !== QUOTE) return 0;
  setSpan(slot, p, end + 1);
  return end + 1;
}

/** Returns the end of at least one digit; 0 where there is none. */
function maybeDigits(start: usize): usize {
  let p = start;
  while (isDigit(byteAt(p))) p += 1;
  return p === start ? 0 : p;
}

/** Any JSON; null stays an empty slot. With `asTexts`, numbers and booleans outside of objects become strings. */
export function readJson(p: usize, slot: usize, asTexts: bool): usize {
  if (isNull(p)) return p + 4;
  if (byteAt(p) === QUOTE) return readString(p, slot);
  if (!asTexts && isNumber(p)) return readNumberAs(p, slot, EXACT);
  const from = Heap.top;
  const end = appendJson(p, asTexts);
  if (end === 0) Heap.top = from;
  else if (isUnchanged(from, end - p)) {
    Heap.top = from;
    setSpan(slot, p, end);
  } else setAppended(slot, from);
  return end;
}

/** A string as it is, any other value as a string of its JSON; null stays an empty slot. */
export function readText(p: usize, slot: usize): usize {
  const first = byteAt(p);
  if (first !== 0x5b && first !== 0x7b) return readJson(p, slot, true);
  const from = Heap.top;
  const end = appendJson(p, false);
  if (end === 0) Heap.top = from;
  else {
    const json = Heap.top;
    appendAsString(from, json);
    memory.copy(from, json, Heap.top - json);
    Heap.top = from + (Heap.top - json);
    setAppended(slot, from);
  }
  return end;
}

/** Appends the JSON string of a JSON text: such a text has no control characters. */
function appendAsString(from: usize, end: usize): void {
  reserve((end - from) * 2 + 2);
  push(QUOTE);
  for (let p = from; p < end; p += 1) {
    const byte = byteAt(p);
    if (byte === QUOTE || byte === 0x5c) push(0x5c);
    push(byte);
  }
  push(QUOTE);
}

/** A string; null for anything else. The exact parser may make a string of a number: that is left to the host. */
export function readLenientString(p: usize, slot: usize): usize {
  if (byteAt(p) === QUOTE) return readString(p, slot);
  if (!isNumber(p)) return LEFT_OUT;
  const end = numberEnd(p);
  return Numeric.plain ? end : 0;
}

/** A string that begins with http://, https:// or ipfs://, in any case; null for anything else. */
export function readWebUrl(p: usize, slot: usize): usize {
  const end = readLenientString(p, slot);
  if (end > LEFT_OUT && !isWebUrl(spanStart(slot) + 1, spanLength(slot))) clear(slot);
  return end;
}

/** `http` and `ipfs` as little-endian words. */
const HTTP: u32 = 0x7074_7468;
const IPFS: u32 = 0x7366_7069;
const LOWER: u32 = 0x2020_2020;
/** Of `"http://x"` and `"ipfs://x"`. */
const LEAST_URL: usize = 10;

/** `length` counts the quotes. */
function isWebUrl(start: usize, length: usize): bool {
  if (length < LEAST_URL) return false;
  const scheme = load<u32>(start) | LOWER;
  if (scheme !== HTTP && scheme !== IPFS) return false;
  const isHttps = scheme === HTTP && (byteAt(start + 4) | SPACE) === LOWER_S;
  const p = start + (isHttps ? 5 : 4);
  return (
    byteAt(p) === COLON && byteAt(p + 1) === SLASH && byteAt(p + 2) === SLASH && p + 3 < start + length - 2
  );
}

const LOWER_S: u32 = 0x73;

/** Stands for the end of a value that is null by its kind: the caller skips it. */
export const LEFT_OUT: usize = 1;
