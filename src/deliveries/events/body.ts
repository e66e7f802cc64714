import { isUtf8 } from 'node:buffer';
import { parseExactJson } from '../../lib/json/exact-json.ts';
import { parseInSlices } from '../../lib/json/parse-in-slices.ts';
import { TooManyShapesError } from '../../lib/json/shapes.ts';
import { JsonSize } from '../../lib/json/size-scanner.ts';
import { JsonValidator } from '../../lib/json/validator.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';

/** More levels than any real body has, and fewer than what a recursive reader's stack takes. */
const MAX_DEPTH = 200;
/** More than a real body of 5 MB has; so many empty objects take 16 MB. */
const MAX_VALUES = 250_000;

/** Larger bodies are read one at a time, in pieces of this size. Others are read at once. */
const PIECE_BYTES = 65_536;
/** Between two slices of this length other work runs. */
const SLICE_MS = 5;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads posted bodies. */
export class BodyParser {
  readonly #large = new Semaphore(1, Number.POSITIVE_INFINITY);

  /**
   * Parses a posted body for its summary. A body beyond the bounds (see `parseStored`) becomes its text, one string: parsing
   * it takes too much memory, and reading the result too much stack. Digits that a float can't hold are lost: types,
   * chains and addresses have none. Rejects with TypeError when the body is not UTF-8, and with SyntaxError when it
   * is no JSON object or array.
   */
  async read(bytes: Uint8Array): Promise<unknown> {
    return bytes.length <= PIECE_BYTES ? readPosted(bytes) : this.#large.run(() => readPosted(bytes));
  }
}

const readPosted = async (bytes: Uint8Array): Promise<unknown> => {
  if (!isUtf8(bytes)) throw new TypeError('not UTF-8');
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
  if (!validator.isComplete) throw new SyntaxError('not an object or array');
  return utf8.decode(bytes);
};

const objectOf = (value: unknown): object => {
  if (typeof value !== 'object' || value === null) throw new SyntaxError('not an object or array');
  return value;
};

/** Null where the objects are of too many shapes. */
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

/** The validator takes none; the decoder drops it by itself. */
const withoutByteOrderMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

export const scanJson = (body: Uint8Array): JsonSize => new JsonSize().add(body);

/** Whether a body is parsed; else it is given as its text. */
export const isWithinLimits = ({ depth, values }: JsonSize): boolean =>
  depth <= MAX_DEPTH && values <= MAX_VALUES;

/**
 * A stored body without loss of digits: an integer beyond 2^53 becomes its decimal string, and so does a number too big
 * for a float. What is nested beyond 200 levels, or has more than 250,000 values or 50,000 shapes of objects, is the text
 * itself. A long body is parsed in slices.
 */
export const parseStored = async (bytes: Uint8Array, size: JsonSize): Promise<unknown> => {
  const text = utf8.decode(bytes);
  const parsed = isWithinLimits(size) ? await withinShapes(parseInSlices(text, parseExactJson)) : null;
  return parsed === null ? text : parsed.value;
};
