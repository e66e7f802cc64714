import { isUtf8 } from 'node:buffer';
import { parseExactJson } from '../../lib/json/exact-json.ts';
import { parseInSlices, TooManyShapesError } from '../../lib/json/parse-in-slices.ts';
import { JsonSize } from '../../lib/json/size.ts';
import { JsonValidator } from '../../lib/json/validator.ts';
import { createKeyedQueue, Semaphore } from '../../lib/tasks.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import { BudgetExceededError } from '../log/errors.ts';
import type { StoredDelivery } from '../log/log.ts';
import type { ByteBudget } from '../log/read-limits.ts';
import { eventCountIn, eventsIn, omittedIn, type ReadEvent } from './events.ts';

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
   * and addresses have none. A small body is parsed at once, without a promise. Throws or rejects with TypeError when the
   * body is not UTF-8, and with SyntaxError when it is not a JSON object or array.
   */
  parse(tenant: string, bytes: Uint8Array): object | Promise<unknown> {
    const text = bytes.length <= SMALL_BYTES ? utf8.decode(bytes) : null;
    if (text !== null && isShallow(text)) return objectOf(JSON.parse(text));
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

/** Whether the body has too few braces and brackets, those in strings included, to exceed the limit of levels. */
const isShallow = (text: string): boolean => {
  let count = 0;
  for (const opening of OPENING)
    for (let at = text.indexOf(opening); at !== -1 && count <= MAX_DEPTH; at = text.indexOf(opening, at + 1))
      count += 1;
  return count <= MAX_DEPTH;
};

const OPENING = ['{', '['] as const;

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
const isWithinLimits = ({ depth, values }: JsonSize): boolean => depth <= MAX_DEPTH && values <= MAX_VALUES;

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

/** The fields that show a body, or what it says of itself. */
type View = 'payload' | 'events' | 'omitted';

/**
 * The least that a JSON value, and an event, count for. In real bodies both have more bytes. In a body that is made of as
 * many as possible, each takes about four times as much memory.
 */
const BYTES_PER_VALUE = 16;
const BYTES_PER_EVENT = 256;

type ParsedBody = {
  readonly payload: Promise<unknown>;
  eventCount: number | null;
  events: readonly ReadEvent[] | null;
  /** The charge for showing it once, in bytes. */
  readonly bytes: number;
  /** The views that were charged before. */
  readonly shown: Set<View>;
};

/**
 * Parses the bodies of one operation, each at most once. The bytes that were read from the log are already charged to the
 * budget. This charges the parsed size above that, and the full size again for every further selection. All methods reject
 * with BudgetExceededError when the budget has less left.
 */
export class BodyReader {
  readonly #budget: ByteBudget;
  readonly #known = new WeakMap<StoredDelivery, ParsedBody>();
  readonly #queue = createKeyedQueue();

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** The parsed body; see `parseStored`. */
  payload(delivery: StoredDelivery): Promise<unknown> {
    return this.#inOrder(async () => {
      const parsed = this.#parse(delivery);
      this.#charge(delivery, parsed, 'payload', parsed.bytes);
      return parsed.payload;
    });
  }

  /** What the body says was left out of its event; see `omittedIn`. */
  omitted(delivery: StoredDelivery): Promise<readonly string[]> {
    return this.#inOrder(async () => {
      const parsed = this.#parse(delivery);
      this.#charge(delivery, parsed, 'omitted', parsed.bytes);
      return omittedIn(await parsed.payload);
    });
  }

  /** The events of the body; see `eventsIn`. One address costs as much as all, because all items are searched. */
  events(delivery: StoredDelivery, address: string | null): Promise<readonly ReadEvent[]> {
    return this.#inOrder(async () => {
      const parsed = this.#parse(delivery);
      const payload = await parsed.payload;
      parsed.eventCount ??= eventCountIn(payload);
      this.#charge(delivery, parsed, 'events', Math.max(parsed.bytes, parsed.eventCount * BYTES_PER_EVENT));
      if (address !== null) return eventsIn(payload, delivery, address);
      parsed.events ??= eventsIn(payload, delivery);
      return parsed.events;
    });
  }

  /** Runs the tasks one after another, so that no body is parsed after those before it have used the budget up. */
  #inOrder<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#queue('bodies', task);
  }

  #parse(delivery: StoredDelivery): ParsedBody {
    const known = this.#known.get(delivery);
    if (known) return known;
    const { body } = delivery;
    const size = scanJson(body);
    const bytes = isWithinLimits(size) ? Math.max(size.bytes, size.values * BYTES_PER_VALUE) : size.bytes;
    this.#spend(delivery, bytes - size.bytes);
    const payload = parseStored(body, size);
    // If the budget is exceeded, nothing awaits this promise, and an unhandled rejection would end the process.
    payload.catch(ignore);
    const parsed: ParsedBody = {
      payload,
      eventCount: null,
      events: null,
      bytes,
      shown: new Set(),
    };
    this.#known.set(delivery, parsed);
    return parsed;
  }

  /** Charges a view of `bytes`. `parsed.bytes` of it are charged already before the first time. */
  #charge(delivery: StoredDelivery, parsed: ParsedBody, view: View, bytes: number): void {
    this.#spend(delivery, parsed.shown.has(view) ? bytes : bytes - parsed.bytes);
    parsed.shown.add(view);
  }

  #spend({ cursor }: StoredDelivery, bytes: number): void {
    if (!this.#budget.tryCharge(bytes)) throw new BudgetExceededError(cursor);
  }
}

const ignore = () => {};
