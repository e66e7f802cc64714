import { hash } from 'node:crypto';
import { isObject, parseExactJson, type RawObject } from '../../lib/json/exact-json.ts';
import { isWithin } from '../../lib/json/size.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import type { KernelPlan } from '../kernel/compile-plan.ts';
import type { IndexedPage } from '../kernel/indexed-page.ts';
import type { WriteValues, Written } from '../kernel/instance.ts';
import type { PageKernel } from '../kernel/page-kernel.ts';
import type { ItemsWriter, PageItems } from '../page.ts';
import { type AskedChains, assertAsked, otherChainOf } from './asked-chains.ts';
import { contentDigest } from './derived.ts';
import { MalformedFieldError, malformed } from './fields.ts';
import { type ListOrder, rankOf } from './list-order.ts';
import type { ListPlan } from './record.ts';

/** What a walk needs to know of an odd item. Its value is read anew each time, so that the page's memory stays known. */
type OddItem = Pick<ParsedItem<unknown>, 'identity' | 'rank'>;

/** The memory of an odd item in addition to its characters. */
const ODD_ITEM_BYTES = 200;

/** A page is read in slices of this length, so that other work runs meanwhile. */
const SLICE_MS = 5;

/** Values of items are read without pausing, so pages with larger ones go to the plain parser, which reads in slices. */
const MAX_ITEM_BYTES = 1024 * 1024;
/** Odd items are read each time that they are written. */
const MAX_ODD_ITEM_BYTES = 64 * 1024;
/** A page with a larger share of odd items is left to the plain parser. */
const MAX_ODD_PART = 1 / 4;

/** Whether a page is worth keeping as bytes. */
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

/** Reads an item of a page on its own. */
type ReadOne<Value> = (index: number) => ParsedItem<Value>;

/** The items of a page that is kept as its bytes and their index. The plain reader reads an item when its value is asked for. */
export class IndexedItems<Value> implements PageItems<Value>, ItemsWriter {
  readonly order: ListOrder['kind'];
  readonly #page: IndexedPage;
  readonly #kernel: PageKernel;
  readonly #subject: string;
  readonly #readOne: ReadOne<Value>;
  readonly #odd: ReadonlyMap<number, OddItem>;
  readonly tail = null;
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

  /** Reads the odd items of a page, for their identities and ranks. Those of other chains than were asked for are odd, too. */
  static async of<Value>(
    page: IndexedPage,
    kernel: PageKernel,
    reader: ItemReader<Value>,
    listed: Listed,
  ): Promise<IndexedItems<Value>> {
    const { subject, chains = null } = listed;
    const readOne: ReadOne<Value> = (index) =>
      readItem(reader, listed, parseExactJson(page.json(index)), index);
    for (let index = 0; chains !== null && index < page.length; index += 1)
      if (!page.isOdd(index) && otherChainOf(chains, page.chainOf(index)) !== null) page.markOdd(index);
    if (!hasOddItems(page)) return new IndexedItems(page, kernel, subject, readOne, NO_ODD_ITEMS);
    const odd = new Map<number, OddItem>();
    const items = new IndexedItems(page, kernel, subject, readOne, odd);
    const slices = createTimeSlices(SLICE_MS);
    for (let index = 0; index < page.length; index += 1) {
      if (!page.isOdd(index)) continue;
      if (slices.isOver()) await slices.next();
      const { identity, rank } = readOne(index);
      odd.set(index, { identity, rank });
    }
    return items;
  }

  get length(): number {
    return this.#page.length;
  }

  continuing(): this {
    return this;
  }

  leadAt(): null {
    return null;
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
    return this.order === 'descendingBy' ? this.#readOne(index).rank : this.#page.time(index);
  }

  value(index: number): Value | MalformedFieldError {
    return this.#readOne(index).value;
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
  readonly tail = null;
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

  continuing(): this {
    return this;
  }

  leadAt(): null {
    return null;
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

/** How the items of a list are read. */
export type ItemReader<Value> = {
  /** The member of a page that has the items. */
  readonly itemsField: string;
  /** Reads an item of a list of `subject`, such as a wallet's address. Throws MalformedFieldError. */
  readonly read: (raw: RawObject, subject: string) => Value;
  /** The properties that identify an item in its list, on whichever page it is. */
  readonly identity: readonly (keyof Value)[];
  /** Of items that `identity` does not tell apart: see `ListDefinition`. */
  readonly content?: readonly (keyof Value)[];
  /** The member of a page that says more than its items. */
  readonly moreField?: string;
  readonly order: ListOrder<keyof Value>;
};

/** The list that a page belongs to. */
export type Listed = {
  /** The subject of the list, such as a wallet's address. */
  readonly subject: string;
  /** Null where items may be of any chain, which is the default. */
  readonly chains?: AskedChains | null;
};

/** Reads the item at `index` of a page. */
export const readItem = <Value>(
  reader: ItemReader<Value>,
  { subject, chains = null }: Listed,
  item: unknown,
  index: number,
): ParsedItem<Value> => {
  try {
    if (!isObject(item)) throw malformed('entry', 'an object', item);
    const value = reader.read(item, subject);
    if (chains !== null) assertAsked(chains, chainOf(value));
    const identity = short(identityOf(value, reader.identity));
    const rank = rankOf(reader.order, value);
    const { content } = reader;
    if (content === undefined) return { identity, rank, value };
    const digested = contentDigest(content.map((property) => value[property]));
    return { identity: `${identity}:${digested}`, rank, value };
  } catch (error) {
    if (!(error instanceof MalformedFieldError)) throw error;
    // A malformed item has no identity and perhaps no rank, so its bytes identify it, and its place is not known.
    const identity = `?${digest(JSON.stringify(essenceOf(item)))}`;
    return { identity, rank: null, value: error.within(`${reader.itemsField}[${index}]`) };
  }
};

/** What a value says of its chain. */
const chainOf = (value: unknown): Parameters<typeof otherChainOf>[1] => {
  const { chainId, chain }: Readonly<Record<string, unknown>> = Object(value);
  return {
    chainId: typeof chainId === 'number' ? chainId : null,
    chain: typeof chain === 'string' ? chain : null,
  };
};

const identityOf = <Value>(value: Value, properties: readonly (keyof Value)[]): string => {
  let identity = '';
  for (const [index, property] of properties.entries())
    identity += index === 0 ? value[property] : `:${value[property]}`;
  return identity;
};

/** Every cursor has the identity of an item, so a long one is replaced by its digest. */
const MAX_IDENTITY = 256;

const short = (identity: string): string =>
  identity.length > MAX_IDENTITY ? `#${digest(identity)}` : identity;

/** The part of a malformed entry that identifies it: the entry itself, or the beginning of a large one. */
const essenceOf = (entry: unknown): unknown => {
  if (isWithin(entry, { levels: 200, characters: 16_384 })) return entry;
  if (typeof entry === 'string') return entry.slice(0, MAX_IDENTITY);
  if (!isObject(entry)) return [Array.isArray(entry) && entry.length];
  const fields = Object.entries(entry).slice(0, 100);
  return fields.map(([name, value]) => [name, typeof value === 'object' ? null : essenceOf(value)]);
};

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 16);
