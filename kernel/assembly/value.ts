import { byteAt, isNull, QUOTE } from './bytes';
import { ADDRESS_LENGTH, hexEnd, setHex } from './hex';
import { readChainId, readInteger } from './integer';
import {
  readBoolean,
  readDecimal,
  readInt,
  readJson,
  readLenientString,
  readNumber,
  readText,
  readTokenDecimals,
  readWebUrl,
} from './scalar';
import { readString } from './string';
import { Kind } from './table';
import { readTime } from './time';

/** Reads a value of any kind but lists and records. Returns its end; 0 where it is left to the host; LEFT_OUT for null. */
export function readScalar(p: usize, kind: i32, isRequired: bool, slot: usize): usize {
  if (kind <= Kind.addressOrNative) return readHexKind(p, kind, isRequired, slot);
  if (kind >= Kind.json) return readLax(p, kind, slot);
  if (isNull(p)) return isRequired ? 0 : p + 4;
  switch (kind) {
    case Kind.string:
      return byteAt(p) === QUOTE ? readString(p, slot) : 0;
    case Kind.integer:
    case Kind.integerOrSide:
      return readInteger(p, slot);
    case Kind.time:
      return readTime(p, slot);
    case Kind.chainId:
      return readChainId(p, slot);
    case Kind.int:
      return readInt(p, slot);
    case Kind.boolean:
      return readBoolean(p, slot);
    case Kind.decimal:
      return readDecimal(p, slot);
    default:
      return readNumber(p, slot);
  }
}

function readHexKind(p: usize, kind: i32, isRequired: bool, slot: usize): usize {
  const end = hexEnd(p);
  if (end !== 0 && (kind === Kind.hex || end - p === ADDRESS_LENGTH)) {
    setHex(slot, p, end);
    return end;
  }
  if (isNull(p)) return isRequired ? 0 : p + 4;
  if (kind >= Kind.addressOrEmpty && load<u16>(p) === EMPTY) return p + 2;
  return kind === Kind.addressOrNative && load<u64>(p) === NATIVE ? p + 8 : 0;
}

/** `""` and `"native"` as little-endian words. */
const EMPTY: u16 = 0x2222;
const NATIVE: u64 = 0x2265_7669_7461_6e22;

/** Values that no form makes malformed. */
function readLax(p: usize, kind: i32, slot: usize): usize {
  if (kind === Kind.text) return readText(p, slot);
  if (kind === Kind.lenientString) return readLenientString(p, slot);
  if (kind === Kind.webUrl) return readWebUrl(p, slot);
  if (kind === Kind.tokenDecimals) return readTokenDecimals(p, slot);
  return readJson(p, slot, kind === Kind.texts);
}
