/** Single bytes of JSON, and what they mean. */

export const QUOTE: u32 = 0x22;
export const BACKSLASH: u32 = 0x5c;
export const SLASH: u32 = 0x2f;
export const COMMA: u32 = 0x2c;
export const COLON: u32 = 0x3a;
export const MINUS: u32 = 0x2d;
export const PLUS: u32 = 0x2b;
export const POINT: u32 = 0x2e;
export const LIST: u32 = 0x5b;
export const LIST_END: u32 = 0x5d;
export const OBJECT: u32 = 0x7b;
export const OBJECT_END: u32 = 0x7d;
export const ZERO: u32 = 0x30;
export const SPACE: u32 = 0x20;
export const LOWER_U: u32 = 0x75;

/** Four bytes as one little-endian word. */
export const NULL_WORD: u32 = 0x6c6c_756e;
export const TRUE_WORD: u32 = 0x6575_7274;
export const FALS_WORD: u32 = 0x736c_6166;

export function byteAt(p: usize): u32 {
  return load<u8>(p);
}

export function isDigit(byte: u32): bool {
  return byte - ZERO < 10;
}

export function isHexDigit(byte: u32): bool {
  return byte - ZERO < 10 || (byte | SPACE) - 0x61 < 6;
}

/** The value of a hex digit. */
export function hexValue(byte: u32): u32 {
  return (byte & 15) + (byte >> 6) * 9;
}

export function isNull(p: usize): bool {
  return load<u32>(p) === NULL_WORD;
}

/** Returns the end of `true`, `false` or `null`; 0 for anything else. */
export function literalEnd(p: usize): usize {
  const word = load<u32>(p);
  if (word === TRUE_WORD || word === NULL_WORD) return p + 4;
  return word === FALS_WORD && byteAt(p + 4) === 0x65 ? p + 5 : 0;
}
