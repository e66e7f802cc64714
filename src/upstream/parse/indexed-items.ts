import { parseExactJson } from '../../lib/json/exact-json.ts';
import { createTimeSlices } from '../../lib/scheduling/time-slices.ts';
import type { KernelPlan } from '../kernel/compile-plan.ts';
import type { IndexedPage } from '../kernel/indexed-page.ts';
import type { WriteValues, Written } from '../kernel/instance.ts';
import type { PageKernel } from '../kernel/page-kernel.ts';
import type { ItemsWriter, PageItems } from '../page.ts';
import type { MalformedFieldError } from './fields.ts';
import { type ItemReader, readItem } from './item-reader.ts';
import type { ListOrder } from './list-order.ts';
import type { ParsedItem } from './parsed-items.ts';
import type { ListPlan } from './plan.ts';

/** What a walk asks of an odd item. Its value is read again each time, so that the page's memory stays known. */
type OddItem = Pick<ParsedItem<unknown>, 'identity' | 'rank'>;

/** The memory of an odd item beside its characters. */
const ODD_ITEM_BYTES = 200;

/** A page is read in slices of this length, so that other work runs meanwhile. */
const SLICE_MS = 5;

/** The values of items are read at once, so the plain parser, which reads in slices, gets pages with larger ones. */
const MAX_ITEM_BYTES = 1024 * 1024;
/** Odd items are read each time that they are written. */
const MAX_ODD_ITEM_BYTES = 64 * 1024;
/** A page with a larger part of odd items is left to the plain parser. */
const MAX_ODD_PART = 1 / 4;

/** Whether a page is worth to be kept as bytes. */
export const isWorthIndexing = (page: IndexedPage): boolean => {
  let odd = 0;
  for (let index = 0; index < page.length; index += 1) {
    const isOdd = page.isOdd(index);
    if (isOdd) odd += 1;
    if (page.size(index) > (isOdd ? MAX_ODD_ITEM_BYTES : MAX_ITEM_BYTES)) return false;
  }
  return odd <= Math.max(1, page.length * MAX_ODD_PART);
};

const NO_ODD_ITEMS: ReadonlyMap<number, OddItem> = new Map();

const hasOddItems = (page: IndexedPage): boolean => {
  for (let index = 0; index < page.length; index += 1) if (page.isOdd(index)) return true;
  return false;
};

/** Reads an item of a page on its own. `rankBefore` is as in `readItem`. */
type ReadOne<Value> = (index: number, rankBefore: number | null) => ParsedItem<Value>;

/** The items of a page that is kept as its bytes and their index. The plain reader reads an item when its value is asked for. */
export class IndexedItems<Value> implements PageItems<Value>, ItemsWriter {
  readonly order: ListOrder['kind'];
  readonly #page: IndexedPage;
  readonly #kernel: PageKernel;
  readonly #subject: string;
  readonly #readOne: ReadOne<Value>;
  readonly #odd: ReadonlyMap<number, OddItem>;
  #hasRepeats: boolean | null;

  private constructor(
    page: IndexedPage,
    kernel: PageKernel,
    subject: string,
    readOne: ReadOne<Value>,
    odd: ReadonlyMap<number, OddItem>,
  ) {
    this.order = page.list.order.kind;
    this.#page = page;
    this.#kernel = kernel;
    this.#subject = subject;
    this.#readOne = readOne;
    this.#odd = odd;
    this.#hasRepeats = odd === NO_ODD_ITEMS ? page.hasRepeats : null;
  }

  /** Reads the odd items of a page, for their identities and ranks. */
  static async of<List extends { readonly address: string }, Value>(
    page: IndexedPage,
    kernel: PageKernel,
    reader: ItemReader<List, Value>,
    list: List,
  ): Promise<IndexedItems<Value>> {
    const readOne: ReadOne<Value> = (index, rankBefore) =>
      readItem(reader, list, parseExactJson(page.json(index)), index, rankBefore);
    if (!hasOddItems(page)) return new IndexedItems(page, kernel, list.address, readOne, NO_ODD_ITEMS);
    const odd = new Map<number, OddItem>();
    const items = new IndexedItems(page, kernel, list.address, readOne, odd);
    const slices = createTimeSlices(SLICE_MS);
    for (let index = 0; index < page.length; index += 1) {
      if (!page.isOdd(index)) continue;
      if (slices.isOver()) await slices.next();
      const { identity, rank } = readOne(index, index === 0 ? null : items.rank(index - 1));
      odd.set(index, { identity, rank });
    }
    return items;
  }

  get length(): number {
    return this.#page.length;
  }

  get hasRepeats(): boolean {
    this.#hasRepeats ??=
      new Set(Array.from({ length: this.length }, (_, index) => this.identity(index))).size < this.length;
    return this.#hasRepeats;
  }

  get writer(): ItemsWriter {
    return this;
  }

  get list(): object {
    return this.#page.list;
  }

  identity(index: number): string {
    return this.#odd.get(index)?.identity ?? this.#page.identity(index);
  }

  indexOf(identity: string): number {
    let first = this.#kernel.indexOf(this.#page, identity);
    for (const [index, odd] of this.#odd)
      if (odd.identity === identity && (first < 0 || index < first)) first = index;
    return first;
  }

  rank(index: number): number | null {
    const odd = this.#odd.get(index);
    if (odd !== undefined) return odd.rank;
    return this.order === 'descendingBy' ? this.#readOne(index, null).rank : this.#page.time(index);
  }

  value(index: number): Value | MalformedFieldError {
    return this.#readOne(index, null).value;
  }

  memoryBytes(): number {
    let bytes = this.#page.bytes;
    for (const { identity } of this.#odd.values()) bytes += ODD_ITEM_BYTES + 2 * identity.length;
    return bytes;
  }

  retain(): void {
    this.#page.retain();
  }

  release(): void {
    this.#page.release();
  }

  compile(plan: ListPlan): KernelPlan | null {
    return this.#kernel.compile(plan, this.#page.list);
  }

  write(plan: KernelPlan, from: number, to: number, values: Omit<WriteValues, 'subject'>): Written {
    return this.#kernel.write(plan, this.#page, from, to, { ...values, subject: this.#subject });
  }
}
