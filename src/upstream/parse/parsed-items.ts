import type { PageItems } from '../page.ts';
import type { MalformedFieldError } from './fields.ts';
import type { ListOrder } from './list-order.ts';

/** An item that has been read. */
export type ParsedItem<Value> = {
  readonly identity: string;
  readonly rank: number | null;
  readonly value: Value | MalformedFieldError;
};

/** Parsed items take about three times the memory of their JSON. */
const MEMORY_PER_BODY_BYTE = 3;

/** The items of a page whose values have all been read. */
export class ParsedItems<Value> implements PageItems<Value> {
  readonly writer = null;
  readonly order: ListOrder['kind'];
  readonly #items: readonly ParsedItem<Value>[];
  #hasRepeats: boolean | null = null;

  constructor(items: readonly ParsedItem<Value>[], order: ListOrder['kind']) {
    this.order = order;
    this.#items = items;
  }

  get length(): number {
    return this.#items.length;
  }

  get hasRepeats(): boolean {
    this.#hasRepeats ??= new Set(this.#items.map(({ identity }) => identity)).size < this.length;
    return this.#hasRepeats;
  }

  identity(index: number): string {
    return this.#at(index).identity;
  }

  indexOf(identity: string): number {
    return this.#items.findIndex((item) => item.identity === identity);
  }

  rank(index: number): number | null {
    return this.#at(index).rank;
  }

  value(index: number): Value | MalformedFieldError {
    return this.#at(index).value;
  }

  memoryBytes(bodyBytes: number): number {
    return bodyBytes * MEMORY_PER_BODY_BYTE;
  }

  retain(): void {}

  release(): void {}

  #at(index: number): ParsedItem<Value> {
    const item = this.#items[index];
    if (item === undefined) throw new RangeError(`Expected an index below ${this.length}, got ${index}.`);
    return item;
  }
}
