import { NAMES, NAMES_END } from '../../src/upstream/kernel/layout';
import { byteAt } from './bytes';

/**
 * Counts the shapes of the objects that no table describes. The plain parser refuses texts with too many of them. The page
 * is left to it before that many: what it refuses, no index may accept.
 */
class Names {
  /** Names so far, equal ones too. */
  static seen: u32 = 0;
  static shapes: u32 = 0;
}

/** Few enough to need no counting of shapes: each name adds one shape at most. */
const UNCOUNTED: u32 = 20_000;
/** Together with those that are not counted, fewer than the plain parser allows. */
const MAX_SHAPES: u32 = 29_000;
const MAX_PROBES: u32 = 256;
const BUCKETS: u32 = <u32>(NAMES_END - NAMES) / 4;

export function startNames(): void {
  Names.seen = 0;
  Names.shapes = 0;
}

/**
 * Counts the name between two addresses. `prefix` is the shape of its object so far. Returns the shape that it makes.
 * Traps for too many.
 */
export function countName(from: usize, end: usize, prefix: u32): u32 {
  Names.seen += 1;
  if (Names.seen <= UNCOUNTED) return 0;
  if (Names.seen === UNCOUNTED + 1) memory.fill(NAMES, 0, NAMES_END - NAMES);
  let hash = prefix ^ 0x811c_9dc5;
  for (let p = from; p < end; p += 1) hash = (hash ^ byteAt(p)) * 0x0100_0193;
  hash = (hash ^ (hash >> 15)) * 0x85eb_ca6b;
  hash = (hash ^ (hash >> 13)) | 1;
  if (isNew(hash)) Names.shapes += 1;
  if (Names.shapes > MAX_SHAPES) unreachable();
  return hash;
}

/** Adds the hash to the table. Returns whether it was not there. Traps where many hashes want the same buckets. */
function isNew(hash: u32): bool {
  for (let probe: u32 = 0; probe < MAX_PROBES; probe += 1) {
    const bucket = NAMES + ((<usize>((hash + probe) % BUCKETS)) << 2);
    const found = load<u32>(bucket);
    if (found === hash) return false;
    if (found === 0) {
      store<u32>(bucket, hash);
      return true;
    }
  }
  unreachable();
  return true;
}
