import { byteAt, COLON, COMMA, isDigit, LIST, literalEnd, MINUS, OBJECT, QUOTE } from './bytes';
import { countName } from './names';
import { numberEnd } from './number';
import { afterSpace, stringEnd } from './scanner';

/** The plain parser takes any depth. A body of more levels is left to it. */
const MAX_LEVELS: usize = 1024;
/** The opening byte of each open list or object, and the shape so far of each. */
const opened = memory.data(1024);
const shapes = memory.data(4096);

class Skip {
  /** How many lists and objects are open. */
  static level: usize = 0;
}

/** Returns the end of the value at `p`, whatever it is. Traps where it is no JSON. */
export function skip(start: usize): usize {
  Skip.level = 0;
  let p = start;
  do p = afterParts(firstScalarEnd(p));
  while (Skip.level > 0);
  return p;
}

/** Opens lists and objects. Returns the end of the first scalar in them, or the address of an end that follows at once. */
function firstScalarEnd(start: usize): usize {
  let p = start;
  for (let byte = byteAt(p); byte === OBJECT || byte === LIST; byte = byteAt(p)) {
    if (Skip.level === MAX_LEVELS) unreachable();
    store<u8>(opened + Skip.level, byte);
    store<u32>(shapes + (Skip.level << 2), 0);
    Skip.level += 1;
    p = afterSpace(p + 1);
    if (byteAt(p) === byte + 2) return p;
    if (byte === OBJECT) p = skipName(p);
  }
  return scalarEnd(p);
}

/** Closes the lists and objects that end here. Returns the address of the next value; the end, when all are closed. */
function afterParts(start: usize): usize {
  let p = start;
  while (Skip.level > 0) {
    p = afterSpace(p);
    const open = <u32>load<u8>(opened + Skip.level - 1);
    const next = byteAt(p);
    p += 1;
    if (next === open + 2) Skip.level -= 1;
    else {
      if (next !== COMMA) unreachable();
      p = afterSpace(p);
      return open === OBJECT ? skipName(p) : p;
    }
  }
  return p;
}

function scalarEnd(p: usize): usize {
  const byte = byteAt(p);
  if (byte === QUOTE) return stringEnd(p + 1) + 1;
  if (byte === MINUS || isDigit(byte)) return numberEnd(p);
  const end = literalEnd(p);
  if (end === 0) unreachable();
  return end;
}

/** Returns the address of the value that the name at `p` has. */
function skipName(p: usize): usize {
  if (byteAt(p) !== QUOTE) unreachable();
  const end = stringEnd(p + 1);
  const shape = shapes + ((Skip.level - 1) << 2);
  store<u32>(shape, countName(p + 1, end, load<u32>(shape)));
  return valueAfterName(end + 1);
}

/** Returns the address of the value behind a colon. */
export function valueAfterName(p: usize): usize {
  const colon = afterSpace(p);
  if (byteAt(colon) !== COLON) unreachable();
  return afterSpace(colon + 1);
}
