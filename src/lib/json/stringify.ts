/** JSON.stringify writes a smaller value at once. A larger one is written in chunks. */
const CHUNK_CHARACTERS = 16_384;
/** The minimum size of a value: even nulls take time. */
const CHARACTERS_A_VALUE = 8;

type Chunks = Generator<string | RawJson, void, undefined>;

/** A list or an object that is partly written. */
type Open = {
  /** Null for a list. */
  readonly keys: readonly string[] | null;
  readonly values: readonly unknown[];
  next: number;
  isEmpty: boolean;
};

/**
 * Yields the text that JSON.stringify returns, in chunks of at most about 100 KB. Each chunk is made when the caller asks
 * for it, so the caller can let other work run in between. Each RawJson in the value is a chunk. Yields nothing for a value
 * that has no JSON (undefined, a function). The stack does not grow with the depth of the value.
 */
export function* stringifyChunks(value: unknown): Chunks {
  const open: Open[] = [];
  yield* start(plainOf('', value), open);
  for (let inner = open.at(-1); inner; inner = open.at(-1)) {
    if (inner.next === inner.values.length) {
      yield closing(inner);
      open.pop();
      continue;
    }
    const key = inner.keys?.[inner.next] ?? String(inner.next);
    const plain = plainOf(key, inner.values[inner.next]);
    inner.next += 1;
    const isLeftOut = !hasText(plain);
    if (isLeftOut && inner.keys) continue;
    yield before(inner, key);
    inner.isEmpty = false;
    yield* start(isLeftOut ? null : plain, open);
  }
}

/** Yields the text of a string, of a small value, or of RawJson. Pushes any other value to `open`. */
function* start(plain: unknown, open: Open[]): Chunks {
  if (typeof plain === 'string') yield* stringChunks(plain);
  else if (plain instanceof RawJson) yield plain;
  else if (typeof plain !== 'object' || plain === null || isSmall(plain)) {
    const text = JSON.stringify(plain);
    if (text !== undefined) yield text;
  } else if (Array.isArray(plain)) open.push({ keys: null, values: plain, next: 0, isEmpty: true });
  else open.push({ keys: Object.keys(plain), values: Object.values(plain), next: 0, isEmpty: true });
}

const before = ({ keys, isEmpty }: Open, key: string): string => {
  if (keys) return `${isEmpty ? '{' : ','}${JSON.stringify(key)}:`;
  return isEmpty ? '[' : ',';
};

const closing = ({ keys, isEmpty }: Open): string => {
  if (keys) return isEmpty ? '{}' : '}';
  return isEmpty ? '[]' : ']';
};

function* stringChunks(text: string): Chunks {
  if (text.length <= CHUNK_CHARACTERS) return yield JSON.stringify(text);
  yield '"';
  for (let from = 0; from < text.length; ) {
    const to = endOfChunk(text, from);
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

/** Never between the two surrogates of a character: each alone would be escaped. */
const endOfChunk = (text: string, from: number): number => {
  const to = Math.min(from + CHUNK_CHARACTERS, text.length);
  const last = text.charCodeAt(to - 1);
  return to < text.length && last >= 0xd800 && last < 0xdc00 ? to - 1 : to;
};

/** Applies `toJSON`. */
const plainOf = (key: string, value: unknown): unknown => {
  if (value instanceof RawJson) return value;
  const { toJSON } = (value ?? {}) as { readonly toJSON?: unknown };
  return typeof toJSON === 'function' ? toJSON.call(value, key) : value;
};

const hasText = (plain: unknown): boolean =>
  plain !== undefined && typeof plain !== 'function' && typeof plain !== 'symbol';

/** Whether JSON.stringify may write a value: it is small and contains no RawJson. */
const isSmall = (plain: object): boolean => {
  const pending: unknown[] = [plain];
  let remaining = CHUNK_CHARACTERS;
  while (pending.length > 0 && remaining >= 0) {
    const value = pending.pop();
    if (value instanceof RawJson) return false;
    if (typeof value === 'string') remaining -= value.length;
    else if (typeof value === 'object' && value !== null) remaining -= pushMembers(value, pending, remaining);
  }
  return remaining >= 0;
};

/** Returns the size that the names and the number of members count for. Stops pushing members beyond `remaining`. */
const pushMembers = (value: object, pending: unknown[], remaining: number): number => {
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  const characters = members.length * CHARACTERS_A_VALUE;
  if (characters > remaining) return characters;
  pending.push(...members);
  return keys.reduce((sum, key) => sum + key.length, characters);
};

type Part = string | Buffer;

/** A value of more members or longer strings is left to `stringifyChunks`. */
const MAX_MEMBERS = 200;
const MAX_CHARACTERS = 16_384;

/**
 * Returns the JSON of a value that is small except for its RawJson, in parts. Returns null for a larger value, and for one
 * with a `toJSON` of its own or without JSON.
 */
export const partsOfSmall = (value: unknown): Part[] | null => {
  const writer = new SmallWriter();
  return writer.write(value) ? writer.finish() : null;
};

class SmallWriter {
  readonly #parts: Part[] = [];
  #text = '';
  #members = MAX_MEMBERS;

  finish(): Part[] {
    if (this.#text !== '') this.#parts.push(this.#text);
    return this.#parts;
  }

  /** Returns false for a value that is left to others. */
  write(value: unknown): boolean {
    if (typeof value === 'object' && value !== null) return this.#writeObject(value);
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return false;
    if (typeof value === 'string' && value.length > MAX_CHARACTERS) return false;
    this.#text += JSON.stringify(value);
    return true;
  }

  #writeObject(value: object): boolean {
    if (value instanceof RawJson) {
      for (const part of value.parts) this.#add(part);
      return true;
    }
    if ('toJSON' in value) return false;
    return Array.isArray(value) ? this.#writeItems(value) : this.#writeMembers(value);
  }

  #writeItems(items: readonly unknown[]): boolean {
    this.#members -= items.length;
    if (this.#members < 0) return false;
    this.#text += '[';
    for (const [index, item] of items.entries()) {
      if (index > 0) this.#text += ',';
      if (!this.write(item)) return false;
    }
    this.#text += ']';
    return true;
  }

  #writeMembers(value: object): boolean {
    this.#text += '{';
    let isFirst = true;
    for (const [key, member] of Object.entries(value)) {
      this.#members -= 1;
      if (this.#members < 0) return false;
      this.#text += `${isFirst ? '' : ','}${JSON.stringify(key)}:`;
      isFirst = false;
      if (!this.write(member)) return false;
    }
    this.#text += '}';
    return true;
  }

  #add(part: Part): void {
    if (typeof part === 'string') this.#text += part;
    else {
      this.#parts.push(this.#text, part);
      this.#text = '';
    }
  }
}

/**
 * A value that is already JSON: the parts of its text, as strings or in UTF-8. `stringifyChunks` yields it unchanged,
 * wherever it is in another value.
 */
export class RawJson {
  readonly parts: readonly (string | Buffer)[];

  constructor(parts: readonly (string | Buffer)[]) {
    this.parts = parts;
  }

  /** Lets JSON.stringify write it, too, more slowly. */
  toJSON(): unknown {
    return JSON.parse(this.parts.join(''));
  }
}
