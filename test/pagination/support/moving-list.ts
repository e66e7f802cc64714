import type { PageRef, ReadPage } from '../../../src/upstream/list-loader.ts';
import type { Page } from '../../../src/upstream/page.ts';
import { ParsedItems } from '../../../src/upstream/parse/items.ts';
import type { ListOrder } from '../../../src/upstream/parse/list-order.ts';

/** How pages are cut: behind a key, which other items don't change, or at a position. Sizes are taken in turn. */
export type Paging = { readonly by: 'key' | 'position'; readonly sizes: readonly number[] };

/** What happens to a list: an item goes to the part `to` of it (0 is the head, 1 the end), or further up, or away. */
export type Moving = {
  readonly kind: 'move' | 'rise' | 'remove' | 'insert';
  readonly item: number;
  readonly to: number;
};

/** `key` is the place in the list, ascending, and the negative of what it descends by. */
type Item = { readonly name: string; readonly key: number };

/** A list of the service whose items move while its pages are read. */
export class MovingList {
  readonly #order: ListOrder['kind'];
  readonly #paging: Paging;
  readonly #length: number;
  #items: Item[];
  #moves: (Moving | null)[] = [];
  #applied = 0;
  #frozen: readonly (readonly string[])[] | null = null;
  /** All names on all pages so far, in their order. */
  readonly shown: string[] = [];
  /** The names of items that did not stay. */
  readonly moved = new Set<string>();

  constructor(order: ListOrder['kind'], length: number, paging: Paging) {
    this.#order = order;
    this.#paging = paging;
    this.#length = length;
    this.#items = Array.from({ length }, (_, index) => ({ name: `item ${index}`, key: index }));
  }

  get names(): string[] {
    return this.#items.map(({ name }) => name);
  }

  /** One of them happens after each page; null stands for nothing. */
  movesAfterReads(moves: readonly (Moving | null)[]): void {
    this.#moves = [...moves];
  }

  /** Serves these pages from now on. */
  frozen(pages: readonly (readonly string[])[]): this {
    this.#frozen = pages;
    return this;
  }

  /** Pages with this many new items, each together with some of the previous page. */
  static overlapping(pages: readonly (readonly [count: number, again: readonly number[]])[]): string[][] {
    let made = 0;
    let before: string[] = [];
    return pages.map(([count, again]) => {
      const first = made;
      made += count;
      const names = Array.from({ length: count }, (_, index) => `item ${first + index}`);
      for (const place of before.length > 0 ? again : []) {
        const repeated = before[place % before.length];
        if (repeated && !names.includes(repeated)) names.splice(place % (names.length + 1), 0, repeated);
      }
      before = names;
      return names;
    });
  }

  /** Returns the reader of one operation, which gets the same page when it asks for it again. */
  reader(): ReadPage<{ name: string }> {
    const pages = new Map<string, Promise<Page<{ name: string }>>>();
    return (at) => {
      const page = pages.get(JSON.stringify(at)) ?? this.#read(at);
      pages.set(JSON.stringify(at), page);
      return page;
    };
  }

  async #read({ offset }: PageRef): Promise<Page<{ name: string }>> {
    const { items, nextOffset } = this.#frozen ? this.#frozenPage(offset) : this.#page(offset);
    this.shown.push(...items.map(({ name }) => name));
    const move = this.#moves.shift();
    if (move) this.#apply(move);
    const isRanked = this.#order === 'descendingBy';
    const parsed = items.map(({ name, key }) => ({
      identity: name,
      rank: isRanked ? -key : null,
      value: { name },
    }));
    const page = { requestTime: null, responseTime: null, partialErrors: null, fetchedAt: Date.now() };
    return { ...page, items: new ParsedItems(parsed, this.#order), nextOffset };
  }

  #frozenPage(offset: string | null): { items: Item[]; nextOffset: string | null } {
    const number = Number(offset ?? 0);
    const pages = this.#frozen ?? [];
    const items = (pages[number] ?? []).map((name, index) => ({ name, key: number * 100 + index }));
    return { items, nextOffset: number + 1 < pages.length ? String(number + 1) : null };
  }

  #page(offset: string | null): { items: Item[]; nextOffset: string | null } {
    const { by, sizes } = this.#paging;
    const { page, place } = offset === null ? { page: 0, place: null } : JSON.parse(offset);
    const found = by === 'position' ? place : this.#items.findIndex(({ key }) => key > place);
    const start = place === null ? 0 : found < 0 ? this.#items.length : found;
    const items = this.#items.slice(start, start + (sizes[page % sizes.length] ?? 1));
    const end = start + items.length;
    const next = by === 'position' ? end : (items.at(-1)?.key ?? place);
    const nextOffset = end < this.#items.length ? JSON.stringify({ page: page + 1, place: next }) : null;
    return { items, nextOffset };
  }

  #apply({ kind, item, to }: Moving): void {
    const chosen = this.#items[item % Math.max(1, this.#items.length)];
    this.#applied += 1;
    const key = to * this.#length - 0.5 - this.#applied / 1e6;
    if (kind === 'insert') {
      this.#put({ name: `new ${this.#applied}`, key });
    } else if (chosen) {
      this.#items = this.#items.filter((other) => other !== chosen);
      this.moved.add(chosen.name);
      if (kind === 'move') this.#put({ ...chosen, key });
      if (kind === 'rise') this.#put({ ...chosen, key: Math.min(key, chosen.key) });
    }
  }

  #put(item: Item): void {
    this.moved.add(item.name);
    this.#items = [...this.#items, item].toSorted((one, other) => one.key - other.key);
  }
}
