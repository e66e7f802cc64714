import type { ReadPage } from '../../upstream/list-loader.ts';
import type { Lead, PageItems } from '../../upstream/page.ts';
import { MalformedFieldError } from '../../upstream/parse/fields.ts';

/** Reads the same pages, with each item made anew of its value. Plans write such items from their values. */
export const mappedPages =
  <Value>(read: ReadPage<Value>, map: (value: Value) => Value): ReadPage<Value> =>
  async (at) => {
    const page = await read(at);
    return { ...page, items: new MappedItems(page.items, map) };
  };

class MappedItems<Value> implements PageItems<Value> {
  readonly writer = null;
  readonly #items: PageItems<Value>;
  readonly #map: (value: Value) => Value;

  constructor(items: PageItems<Value>, map: (value: Value) => Value) {
    this.#items = items;
    this.#map = map;
  }

  get length(): number {
    return this.#items.length;
  }

  get hasRepeats(): boolean {
    return this.#items.hasRepeats;
  }

  get order(): PageItems<Value>['order'] {
    return this.#items.order;
  }

  identity(index: number): string {
    return this.#items.identity(index);
  }

  indexOf(identity: string): number {
    return this.#items.indexOf(identity);
  }

  continuing(lead: Lead | null): PageItems<Value> {
    const items = this.#items.continuing(lead);
    return items === this.#items ? this : new MappedItems(items, this.#map);
  }

  leadAt(index: number): Lead | null {
    return this.#items.leadAt(index);
  }

  get tail(): Lead | null {
    return this.#items.tail;
  }

  rank(index: number): number | null {
    return this.#items.rank(index);
  }

  value(index: number): Value | MalformedFieldError {
    const value = this.#items.value(index);
    return value instanceof MalformedFieldError ? value : this.#map(value);
  }

  memoryBytes(bodyBytes: number): number {
    return this.#items.memoryBytes(bodyBytes);
  }

  retain(): void {
    this.#items.retain();
  }

  release(): void {
    this.#items.release();
  }
}
