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

/** The entries of one feed, by the cursor that each comes after. */
type Entries<Item = unknown> = Map<string, FeedEntry<Item>>;

/** An estimate of an entry's memory in addition to the bytes of its item: objects, and the buffers themselves. */
const ENTRY_BYTES = 1280;

/**
 * Caches recently rendered deliveries for readers that reach the same cursor soon after. All feeds share the budget of
 * `maxBytes`; the least recently rendered entries are evicted first.
 */
export class FeedCache {
  readonly #entries: LRUCache<FeedEntry, Entries>;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      dispose: (entries, entry) => {
        if (entries.get(entry.after) === entry) entries.delete(entry.after);
      },
    });
  }

  /** Adds an entry to `entries` until it is evicted. An entry larger than the whole budget is not added. */
  add(entry: FeedEntry, entries: Entries): void {
    this.#entries.set(entry, entries, { size: ENTRY_BYTES + entry.bytes });
    if (this.#entries.has(entry)) entries.set(entry.after, entry);
  }

  clear(entries: Entries): void {
    for (const entry of entries.values()) this.#entries.delete(entry);
  }
}

const NO_ENTRIES: ReadonlyMap<string, never> = new Map<string, never>();

/** One feed's share of the cache. */
export class FeedPages<Item> {
  readonly #cache: FeedCache;
  readonly #cached: Entries<Item> = new Map();
  /** The page that is being published: readers find its entries here even if the cache is too small for them. */
  #current: ReadonlyMap<string, FeedEntry<Item>> = NO_ENTRIES;

  constructor(cache: FeedCache) {
    this.#cache = cache;
  }

  entryAfter(cursor: string): FeedEntry<Item> | undefined {
    return this.#current.get(cursor) ?? this.#cached.get(cursor);
  }

  /** Caches the page's entries, then calls `wakeReaders`, which finds all of them. */
  publish(entries: Entries<Item>, wakeReaders: () => void): void {
    for (const entry of entries.values()) this.#cache.add(entry, this.#cached);
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
