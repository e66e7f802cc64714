import { IDENTITIES, IDENTITIES_END } from '../../src/upstream/kernel/layout';
import { byteAt, COLON, QUOTE } from './bytes';
import { copyBytes } from './copy';
import { hasBackslash } from './scanner';
import { spanLength, spanStart } from './slot';

/** The identity of an item: the texts of up to four fields, with colons between. */
class Identities {
  static buckets: u32 = 0;
  static repeats: bool = false;
}

/** Longer ones are left to the plain reader, which shortens them. */
const MAX_LENGTH: usize = 256;
const text = memory.data(256 + 32);

/** Prepares for at most this many identities. */
export function startIdentities(count: u32): void {
  const most = <u32>(IDENTITIES_END - IDENTITIES) / 4;
  Identities.buckets = 16;
  while (Identities.buckets < count * 2 && Identities.buckets < most) Identities.buckets *= 2;
  memory.fill(IDENTITIES, 0, <usize>Identities.buckets * 4);
  Identities.repeats = false;
}

/** Whether two items may have the same identity. */
export function hasRepeats(): bool {
  return Identities.repeats;
}

/** What stands for a field that is null. */
const nothing = memory.data<u8>([0x6e, 0x75, 0x6c, 0x6c]);
const NOTHING_LENGTH: usize = 4;

/** Returns the hash of the identity that the slots make; 0 where it is left to the plain reader. `slots` ends with 0. */
export function identityHash(record: usize, slots: usize): u64 {
  let length: usize = 0;
  for (let entry = slots; load<u32>(entry) !== 0; entry += 4) {
    const slot = record + <usize>load<u32>(entry);
    let start = spanStart(slot);
    let bytes = spanLength(slot);
    if (start === 0) {
      start = nothing;
      bytes = NOTHING_LENGTH;
    } else if (byteAt(start) === QUOTE) {
      start += 1;
      bytes -= 2;
    }
    if (length + bytes + 1 > MAX_LENGTH || hasBackslash(start, start + bytes)) return 0;
    if (entry !== slots) {
      store<u8>(text + length, COLON);
      length += 1;
    }
    copyBytes(text + length, start, bytes);
    length += bytes;
  }
  return hashOf(text, length);
}

/** The hash of an identity's text. Never 0. It may overwrite eight bytes behind the text. */
export function hashOf(start: usize, length: usize): u64 {
  store<u64>(start + length, 0);
  let hash: u64 = 0x9e37_79b9_7f4a_7c15 ^ <u64>length;
  for (let p = start; p < start + length; p += 8) {
    hash = (hash ^ load<u64>(p)) * 0xff51_afd7_ed55_8ccd;
    hash ^= hash >> 32;
  }
  return hash | 1;
}

/** Marks that an item has this hash. */
export function markIdentity(row: usize, hashAt: usize): void {
  const hash = load<u64>(row + hashAt);
  const mask = Identities.buckets - 1;
  for (let bucket = <u32>(hash >> 40) & mask; ; bucket = (bucket + 1) & mask) {
    const address = IDENTITIES + ((<usize>bucket) << 2);
    const other: usize = load<u32>(address);
    if (other === 0) return store<u32>(address, <u32>row);
    if (load<u64>(other + hashAt) === hash) {
      Identities.repeats = true;
      return;
    }
  }
}
