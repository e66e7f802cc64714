import { RawJson } from './raw-json.ts';

type Part = string | Buffer;

/** A value of more members or longer strings is left to `stringifyChunks`. */
const MAX_MEMBERS = 200;
const MAX_CHARACTERS = 16_384;

/**
 * Returns the parts of what JSON.stringify writes of a value that is small except for its RawJson. Returns null for a
 * larger value, and for one that has its own `toJSON` or no JSON.
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
