import { isUtf8 } from 'node:buffer';
import { parseExactJson } from '../../lib/json/exact-json.ts';
import { parseInSlices } from '../../lib/json/parse-in-slices.ts';
import { TooManyShapesError } from '../../lib/json/shapes.ts';
import { JsonSize } from '../../lib/json/size-scanner.ts';
import { JsonValidator } from '../../lib/json/validator.ts';
import { Semaphore } from '../../lib/scheduling/semaphore.ts';
import { createTimeSlices } from '../../lib/scheduling/time-slices.ts';

/** More levels than any real body has, and fewer than would overflow a recursive reader's stack. */
const MAX_DEPTH = 200;
/** More values than a real body of 5 MB has. As many empty objects take 16 MB. */
const MAX_VALUES = 250_000;

/** Larger bodies are parsed one at a time, the tenants by turns, and scanned in pieces of this size. Others are parsed at once. */
const PIECE_BYTES = 65_536;
/** Bodies of at most this size can't have too many values, and are parsed without a pause. */
const SMALL_BYTES = 16_384;
/** Between two slices of this length other work runs. */
const SLICE_MS = 5;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses posted bodies. */
export class BodyParser {
  readonly #large = new Semaphore(1);

  /**
   * Parses a posted body for its summary. A body beyond the limits (see `parseStored`) becomes its text, one string: parsing
   * it would take too much memory, and reading the result too much stack. Integers beyond 2^53 lose digits: types, chains
   * and addresses have none. Rejects with TypeError when the body is not UTF-8, and with SyntaxError when it is not a
   * JSON object or array.
   */
  async parse(tenant: string, bytes: Uint8Array): Promise<unknown> {
    if (bytes.length <= SMALL_BYTES && isShallow(bytes)) return objectOf(JSON.parse(utf8.decode(bytes)));
    return bytes.length <= PIECE_BYTES
      ? parsePosted(bytes)
      : this.#large.run(tenant, () => parsePosted(bytes));
  }
}

const parsePosted = async (bytes: Uint8Array): Promise<unknown> => {
  if (!isUtf8(bytes)) throw new TypeError('expected UTF-8');
  const slices = createTimeSlices(SLICE_MS);
  const size = new JsonSize();
  for (const piece of pieces(bytes)) {
    if (slices.isOver()) await slices.next();
    size.add(piece);
  }
  const parsed = isWithinLimits(size) ? await withinShapes(parseInSlices(utf8.decode(bytes))) : null;
  if (parsed !== null) return objectOf(parsed.value);
  const validator = new JsonValidator(size.depth);
  for (const piece of pieces(withoutByteOrderMark(bytes))) {
    if (slices.isOver()) await slices.next();
    validator.add(piece);
  }
  if (!validator.isComplete) throw new SyntaxError('expected an object or array');
  return utf8.decode(bytes);
};

const OBJECT_OR_LIST = 0x7b;
/** The bit in which the codes of `{` and `[` differ. */
const BRACE = 0x20;

/** Whether the body has too few braces and brackets, those in strings included, to exceed the limit of levels. */
const isShallow = (bytes: Uint8Array): boolean => {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) if (((bytes[at] ?? 0) | BRACE) === OBJECT_OR_LIST) count += 1;
  return count <= MAX_DEPTH;
};

const objectOf = (value: unknown): object => {
  if (typeof value !== 'object' || value === null) throw new SyntaxError('expected an object or array');
  return value;
};

/** Null when the objects have too many shapes. */
const withinShapes = async (parsing: Promise<unknown>): Promise<{ readonly value: unknown } | null> => {
  try {
    return { value: await parsing };
  } catch (error) {
    if (error instanceof TooManyShapesError) return null;
    throw error;
  }
};

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** The validator accepts no byte order mark; the decoder drops it. */
const withoutByteOrderMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

/** Counts the levels, values and bytes of a body. */
export const scanJson = (body: Uint8Array): JsonSize => new JsonSize().add(body);

/** Whether a body is parsed. Otherwise its payload is its text. */
export const isWithinLimits = ({ depth, values }: JsonSize): boolean =>
  depth <= MAX_DEPTH && values <= MAX_VALUES;

/**
 * Parses a stored body without loss of digits: an integer beyond 2^53 becomes its decimal string, and so does a number too
 * big for a float. A body of more than 200 levels, 250,000 values or 50,000 shapes of objects becomes its text. A long
 * body is parsed in slices, between which other work runs.
 */
export const parseStored = async (bytes: Uint8Array, size: JsonSize): Promise<unknown> => {
  const text = utf8.decode(bytes);
  const parsed = isWithinLimits(size) ? await withinShapes(parseInSlices(text, parseExactJson)) : null;
  return parsed === null ? text : parsed.value;
};
