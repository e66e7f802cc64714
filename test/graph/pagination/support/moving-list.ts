import type { PageRef, ReadPage } from '../../../../src/upstream/list-loader.ts';
import type { Page } from '../../../../src/upstream/page.ts';
import { ParsedItems } from '../../../../src/upstream/parse/items.ts';
import type { ListOrder } from '../../../../src/upstream/parse/list-order.ts';

/** How pages are cut: behind a key, which other items don't change, or at a position. Sizes are taken in turn. */
export type Paging = { readonly by: 'key' | 'position'; readonly sizes: readonly number[] };

/**
 * What happens to a list: an item goes to the part `to` of it (0 is the head, 1 the end), or further up, or to that part of
 * the items of its own time, or away. With `count`, so do those of its chain among as many items from it on: a reorg.
 */
export type Moving = {
  readonly kind: 'move' | 'rise' | 'shuffle' | 'remove' | 'insert';
  readonly item: number;
  readonly to: number;
  readonly count?: number;
};

/**
 * How a list by time is made: how many items have the same time, on how many chains, and after how many seconds times begin
 * anew, as in a list of one chain after the other. Default: never.
 */
type Times = { readonly atOnce: number; readonly chains: number; readonly seconds?: number };

/** `key` is the place in the list, ascending. In a list that descends by a number, it is the negative of the number. */
type Item = { readonly name: string; readonly key: number; readonly chain: number; readonly time: number };

type ServedPage = { readonly items: readonly Item[]; readonly nextOffset: string | null };

/** A list of the service whose items move while its pages are read. */
export class MovingList {
  readonly #order: ListOrder['kind'];
  readonly #paging: Paging;
  readonly #length: number;
  readonly #times: Times;
  #items: Item[];
  #moves: (Moving | null)[] = [];
  #applied = 0;
  #frozen: readonly (readonly string[])[] | null = null;
  /** All names on all pages so far, in their order. */
  readonly shown: string[] = [];
  /** The names of items that did not stay. */
  readonly moved = new Set<string>();

  constructor(order: ListOrder['kind'], length: number, paging: Paging, times?: Times) {
    this.#order = order;
    this.#paging = paging;
    this.#length = length;
    this.#times = times ?? { atOnce: 1, chains: 1 };
    this.#items = Array.from({ length }, (_, index) =>
      this.#item(`item ${index}`, index, index % this.#times.chains),
    );
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
      const key = JSON.stringify([at.offset, at.follows]);
      const page = pages.get(key) ?? this.#read(at);
      pages.set(key, page);
      return page;
    };
  }

  /** Serves a page, and lets happen what happens after it. */
  serve(offset: string | null): ServedPage {
    const { items, nextOffset } = this.#frozen ? this.#frozenPage(offset) : this.#page(offset);
    this.shown.push(...items.map(({ name }) => name));
    const move = this.#moves.shift();
    if (move) this.#apply(move);
    return { items, nextOffset };
  }

  async #read({ offset }: PageRef): Promise<Page<{ name: string }>> {
    const { items, nextOffset } = this.serve(offset);
    const parsed = items.map((item) => ({
      identity: item.name,
      rank: this.#rankOf(item),
      value: { name: item.name },
    }));
    const page = { requestTime: null, responseTime: null, partialErrors: null, fetchedAt: Date.now() };
    return { ...page, items: new ParsedItems(parsed, this.#order), nextOffset };
  }

  #rankOf({ key, time }: Item): number | null {
    if (this.#order === 'unordered') return null;
    return this.#order === 'newestFirst' ? time : -key;
  }

  #frozenPage(offset: string | null): ServedPage {
    const number = Number(offset ?? 0);
    const pages = this.#frozen ?? [];
    const items = (pages[number] ?? []).map((name, index) => this.#item(name, number * 100 + index, 0));
    return { items, nextOffset: number + 1 < pages.length ? String(number + 1) : null };
  }

  #page(offset: string | null): ServedPage {
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

  #apply({ kind, item, to, count = 1 }: Moving): void {
    const index = item % Math.max(1, this.#items.length);
    const first = this.#items[index];
    const { atOnce, chains } = this.#times;
    for (let left = kind === 'insert' ? count : 0; left > 0; left -= 1)
      this.#put(`new ${this.#applied}`, this.#keyAt(to), item % chains);
    if (kind === 'insert' || first === undefined) return;
    for (const chosen of this.#items.slice(index, index + count)) {
      const { name, key, chain } = chosen;
      if (chain !== first.chain) continue;
      this.#items = this.#items.filter((other) => other !== chosen);
      this.moved.add(name);
      if (kind === 'move') this.#put(name, this.#keyAt(to), chain);
      if (kind === 'rise') this.#put(name, Math.min(this.#keyAt(to), key), chain);
      if (kind === 'shuffle') {
        const start = Math.floor(key / atOnce) * atOnce;
        this.#put(name, start + to * (atOnce - 1e-3) + this.#applied / 1e7, chain);
      }
    }
  }

  /** Those that arrive in one place follow each other. */
  #keyAt(to: number): number {
    return to * this.#length - 0.5 + this.#applied / 1e6;
  }

  #put(name: string, key: number, chain: number): void {
    this.#applied += 1;
    this.moved.add(name);
    this.#items = [...this.#items, this.#item(name, key, chain)].toSorted(
      (one, other) => one.key - other.key,
    );
  }

  #item(name: string, key: number, chain: number): Item {
    const { atOnce, seconds = Number.POSITIVE_INFINITY } = this.#times;
    const second = Math.floor(key / atOnce);
    return { name, key, chain, time: -(second < 0 ? second : second % seconds) };
  }
}
