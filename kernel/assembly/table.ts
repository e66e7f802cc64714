import { COUNT, FIELD_BYTES, FIELDS, NAME_BITS, NAME_LENGTH } from '../../src/upstream/kernel/layout';
import { byteAt, QUOTE } from './bytes';

/**
 * Tables as the host compiles them: a head, then the fields. The kernel writes only its guesses of which field comes next:
 * upstream's objects nearly always have their names in the same order.
 */

/**
 * How the value of a field is read. The names are those of the host's tables. Those of hex come first, then those of other
 * scalars, then those that no form makes malformed, then lists and records.
 */
export enum Kind {
  hex,
  address,
  addressOrEmpty,
  addressOrNative,
  string,
  integer,
  integerOrSide,
  decimal,
  number,
  int,
  boolean,
  time,
  chainId,
  json,
  texts,
  text,
  lenientString,
  webUrl,
  tokenDecimals,
  hexList,
  lenientObject,
  strict,
  skipOthers,
  lenient,
  lenientOrNull,
  /** Its fields are those of the record that it is in. */
  inline,
}

/** Whether the field's name lies at `p`. */
export function isNamed(p: usize, field: usize): bool {
  const bits = load<u32>(field, NAME_BITS);
  const equal = i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(field)));
  if ((equal & bits) !== bits) return false;
  const length = load<u32>(field, NAME_LENGTH);
  if (length <= 16) return true;
  const others = i8x16.bitmask(i8x16.eq(v128.load(p, 16), v128.load(field, 16)));
  return <u32>ctz(~others) >= length - 16;
}

/** Returns the field whose name lies at `p`; 0 for an unknown name. */
export function findField(p: usize, table: usize): usize {
  if (byteAt(p) !== QUOTE) unreachable();
  const end = table + FIELDS + <usize>load<u32>(table, COUNT) * FIELD_BYTES;
  for (let field = table + FIELDS; field < end; field += FIELD_BYTES) if (isNamed(p, field)) return field;
  return 0;
}
