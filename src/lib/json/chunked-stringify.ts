import { RawJson } from './raw-json.ts';

/** JSON.stringify writes a smaller value at once. A larger one is written in chunks. */
const CHUNK_CHARACTERS = 16_384;
/** The least size of a value: nulls take time too. */
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

/** Yields the text of a string, of a small value, or what is written already. Pushes any other value to `open`. */
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

/** Whether JSON.stringify may write a value: it is small, and nothing in it is written already. */
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

/** Returns what the names and the number of members count for. Pushes none that count for more than `remaining`. */
const pushMembers = (value: object, pending: unknown[], remaining: number): number => {
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  const characters = members.length * CHARACTERS_A_VALUE;
  if (characters > remaining) return characters;
  pending.push(...members);
  return keys.reduce((sum, key) => sum + key.length, characters);
};
