import { LRUCache } from 'lru-cache';
import type { Rendering } from '../../lib/event-source.ts';
import { sequenceIn } from '../log/cursor.ts';
import type { DeliveryPage, StoredDelivery } from '../log/log.ts';

/** A reader's position in a tenant's log: the reader continues after `cursor`. */
export type FeedPosition = {
  readonly cursor: string;
  /** The sequence number in the cursor, decoded once; null when the text is not a cursor. */
  readonly sequence: number | null;
};

let last: FeedPosition = { cursor: '', sequence: null };

/** Feeds of one tenant reach the same cursor at the same time: it is decoded and kept in memory once for all of them. */
export const positionOf = (cursor: string): FeedPosition => {
  if (cursor !== last.cursor) last = { cursor, sequence: sequenceIn(cursor) };
  return last;
};

/** A rendered delivery: a reader whose cursor is `after` takes the item and moves to `next`. */
export type FeedEntry<Item = unknown> = {
  readonly after: string;
  readonly item: Item;
  readonly next: FeedPosition;
  readonly bytes: number;
};

/** The entries of one page, or all of a feed, by the cursor that each comes after. */
type Entries<Item = unknown> = Map<string, FeedEntry<Item>>;

/** What is cached of one feed. */
type Cached<Item = unknown> = { readonly entries: Entries<Item>; readonly pages: Set<Entries<Item>> };

/** An estimate of an entry's memory in addition to the bytes of its item: objects, and the buffers themselves. */
const ENTRY_BYTES = 1280;
/** The same of a page, beside its entries. */
const PAGE_BYTES = 256;

/**
 * Caches recently rendered deliveries for readers that reach the same cursor soon after. All feeds share the budget of
 * `maxBytes`; the least recently rendered pages are evicted first.
 */
export class FeedCache {
  readonly #pages: LRUCache<Entries, Cached>;

  constructor(maxBytes: number) {
    this.#pages = new LRUCache({
      maxSize: maxBytes,
      dispose: ({ entries, pages }, page) => {
        pages.delete(page);
        for (const [after, entry] of page) if (entries.get(after) === entry) entries.delete(after);
      },
    });
  }

  /** Adds the entries of a page until it is evicted. A page larger than the whole budget is not added. */
  add(page: Entries, cached: Cached): void {
    let size = PAGE_BYTES;
    for (const { bytes } of page.values()) size += ENTRY_BYTES + bytes;
    this.#pages.set(page, cached, { size });
    if (!this.#pages.has(page)) return;
    cached.pages.add(page);
    for (const [after, entry] of page) cached.entries.set(after, entry);
  }

  clear({ pages }: Cached): void {
    for (const page of pages) this.#pages.delete(page);
  }
}

const NO_ENTRIES: ReadonlyMap<string, never> = new Map<string, never>();

/** One feed's share of the cache. */
export class FeedPages<Item> {
  readonly #cache: FeedCache;
  readonly #cached: Cached<Item> = { entries: new Map(), pages: new Set() };
  /** The page that is being published: readers find its entries here even if the cache is too small for them. */
  #current: ReadonlyMap<string, FeedEntry<Item>> = NO_ENTRIES;

  constructor(cache: FeedCache) {
    this.#cache = cache;
  }

  entryAfter(cursor: string): FeedEntry<Item> | undefined {
    return this.#current.get(cursor) ?? this.#cached.entries.get(cursor);
  }

  /** Caches the page, then calls `wakeReaders`, which finds all of its entries. */
  publish(entries: Entries<Item>, wakeReaders: () => void): void {
    this.#cache.add(entries, this.#cached);
    this.#current = entries;
    wakeReaders();
    this.#current = NO_ENTRIES;
  }

  clear(): void {
    this.#cache.clear(this.#cached);
  }
}

/** Renders a page that was read after the cursor. Rejects with the error of `render`. */
export const renderPage = async <Item>(
  after: string,
  { deliveries, scannedTo }: DeliveryPage,
  { render, sizeOf }: Rendering<StoredDelivery, Item>,
): Promise<Entries<Item>> => {
  const entries: Entries<Item> = new Map();
  let cursor = after;
  for (const [index, delivery] of deliveries.entries()) {
    const rendered = render(delivery);
    const item = rendered instanceof Promise ? await rendered : rendered;
    const isLast = index === deliveries.length - 1;
    const next = isLast ? positionOf(scannedTo) : { cursor: delivery.cursor, sequence: delivery.sequence };
    entries.set(cursor, { after: cursor, item, next, bytes: sizeOf(item) });
    cursor = next.cursor;
  }
  return entries;
};
