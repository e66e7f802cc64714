const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const SPACE = 0x20;

/**
 * Measures a JSON text while its bytes arrive, before it is parsed: a value of three bytes may take twenty times as much
 * memory once it is parsed. The counts are exact for valid JSON, and meaningless for other bytes.
 */
export class JsonSize {
  bytes = 0;
  /** The number of values at all levels: objects, lists and what they contain. Names of members do not count. */
  values = 1;
  /** The deepest nesting of objects and lists. */
  depth = 0;
  #level = 0;
  #inString = false;
  #escaped = false;
  /** The last byte outside strings that is not white space. */
  #last = 0;

  /** Adds the next chunk of the text. */
  add(chunk: Uint8Array): this {
    this.bytes += chunk.length;
    for (let at = 0; at < chunk.length; )
      at = this.#inString ? this.#afterString(chunk, at) : this.#afterQuote(chunk, at);
    return this;
  }

  #afterString(chunk: Uint8Array, from: number): number {
    let escaped = this.#escaped;
    let at = from;
    for (; at < chunk.length; at += 1) {
      if (escaped) escaped = false;
      else if (chunk[at] === BACKSLASH) escaped = true;
      else if (chunk[at] === QUOTE) break;
    }
    this.#escaped = escaped;
    this.#inString = at === chunk.length;
    return at + 1;
  }

  /** Scans to the next string, and returns the index after its quote. */
  #afterQuote(chunk: Uint8Array, from: number): number {
    let { values, depth } = this;
    let level = this.#level;
    let last = this.#last;
    let at = from;
    for (; at < chunk.length && chunk[at] !== QUOTE; at += 1) {
      const byte = chunk[at] ?? SPACE;
      switch (byte) {
        case COMMA:
          values += 1;
          break;
        case LIST:
        case OBJECT:
          // Counts the first part of the object or list. A comma counts each further part.
          values += 1;
          level += 1;
          depth = Math.max(depth, level);
          break;
        case LIST_END:
        case OBJECT_END:
          if (last === LIST || last === OBJECT) values -= 1;
          level -= 1;
      }
      if (byte > SPACE) last = byte;
    }
    this.#inString = at < chunk.length;
    this.values = values;
    this.depth = depth;
    this.#level = level;
    this.#last = this.#inString ? QUOTE : last;
    return at + 1;
  }
}

type Bounds = {
  /** The maximum nesting of lists and objects; 0 allows neither. */
  readonly levels: number;
  /** The maximum size, about the number of characters of the value's JSON. */
  readonly characters: number;
};

/** Returns whether a JSON value is within bounds. It stops where the value exceeds them. */
export const isWithin = (value: unknown, { levels, characters }: Bounds): boolean =>
  charactersLeft(value, levels, characters) >= 0;

/** Returns how many characters remain after the value; a negative number where it exceeds its bounds. */
const charactersLeft = (value: unknown, levels: number, characters: number): number => {
  if (typeof value === 'string') return characters - value.length;
  if (typeof value !== 'object' || value === null) return characters - 1;
  if (levels === 0) return -1;
  let left = characters - 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = charactersLeft(value[index], levels - 1, left - 1);
    return left;
  }
  for (const key in value) {
    if (left < 0) break;
    left = charactersLeft((value as Record<string, unknown>)[key], levels - 1, left - key.length - 1);
  }
  return left;
};
