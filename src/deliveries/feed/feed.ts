import type { EventFeed, EventReader, Rendering } from '../../streams/event-source.ts';
import { sequenceIn } from '../log/cursor.ts';
import { isTransient, ReadAbortedError } from '../log/errors.ts';
import type { DeliveryFilter, DeliveryLog, StoredDelivery } from '../log/log.ts';
import type { ReaderObserver } from '../log/observer.ts';
import { BlockedReaders } from './blocked-readers.ts';
import type { FeedCache, FeedEntry } from './cache.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import { Reader } from './reader.ts';

export type FeedOptions<Item> = Rendering<StoredDelivery, Item> & {
  readonly log: DeliveryLog;
  /** Of the same log. */
  readonly changeNotifier: ChangeNotifier;
  readonly tenant: string;
  readonly filter: DeliveryFilter;
  readonly cache: FeedCache;
  /** What readers are told of an error that ends them. Default: the error. */
  readonly mapError?: ((error: unknown) => unknown) | undefined;
  readonly observer?: ReaderObserver | undefined;
};

/** After the log could not be read. */
const RETRY_MS = 1000;

/** What is read from the log at a time. */
const PAGE = 16;
const PAGE_BYTES = 32_768;
/** A rare filter moves on by pages without a delivery, so that no part of the log is searched twice. */
const PAGE_SCAN_LIMIT = 10_000;

/**
 * A tenant's deliveries through one filter, for any number of readers: each place in the log is read and rendered once
 * for all that stand there together, whether it is the log's end or far behind it. While the log can't be read, readers
 * wait.
 */
export class Feed<Item> implements EventFeed<Item> {
  readonly #options: FeedOptions<Item>;
  readonly #readers = new Set<Reader<Item>>();
  readonly #blocked = new BlockedReaders<Item>();
  readonly #reading = new Set<string>();
  /** The places that are read again after a pause. */
  readonly #retrying = new Set<string>();
  readonly #cached = new Map<string, FeedEntry>();
  /** The page that readers are being woken for: they find it here even where the cache is too small for it. */
  #currentPage: ReadonlyMap<string, FeedEntry> = new Map();
  /** The end of the log, where only a wake-up helps; null while it is not known. */
  #tail: string | null = null;
  /** The newest place that the log was seen to have. */
  #newest = 0;
  #changeNotifier = 0;
  /** Aborts when the last reader has closed. */
  #reads = new AbortController();
  #stopListening: (() => void) | null = null;

  constructor(options: FeedOptions<Item>) {
    this.#options = options;
  }

  /** What is stored after the cursor, or from now on when that is null. */
  read(after: string | null, wake: () => void): EventReader<Item> {
    if (this.#readers.size === 0) this.#listen();
    const reader = new Reader(this, after, wake);
    this.#readers.add(reader);
    if (after === null) void this.#start(reader);
    return reader;
  }

  /** @internal */
  entryAfter(place: string): FeedEntry | undefined {
    return this.#currentPage.get(place) ?? this.#cached.get(place);
  }

  /** @internal */
  wait(reader: Reader<Item>, place: string): void {
    this.#blocked.add(place, reader);
    if (place !== this.#tail) void this.#read(place);
  }

  /** @internal */
  stopWaiting(reader: Reader<Item>): void {
    if (!this.#readers.delete(reader)) return;
    this.#blocked.remove(reader);
    if (this.#readers.size > 0) return;
    this.#stopListening?.();
    this.#reads.abort();
    this.#options.cache.forget(this.#cached);
    this.#options.onIdle?.();
  }

  #listen(): void {
    this.#reads = new AbortController();
    const { changeNotifier, tenant, observer } = this.#options;
    const unwatch = changeNotifier.watch(tenant, {
      changed: () => this.#onChange(),
      onPoll: (head) => this.#catchUp(head),
    });
    const unobserve = observer?.reading(() => this.#lags());
    this.#stopListening = () => {
      unwatch();
      unobserve?.();
    };
  }

  /**
   * A wake-up may have been lost. Whatever the feed has seen so far, there is something to read for all that wait before
   * the log's end.
   */
  #catchUp(head: number): void {
    const isBefore = (place: string) => (sequenceIn(place) ?? 0) < head;
    this.#newest = Math.max(this.#newest, head);
    if (this.#tail !== null && isBefore(this.#tail)) this.#tail = null;
    for (const place of this.#blocked.places()) if (isBefore(place)) void this.#read(place);
  }

  /** Takes the head that a page had. False when a poll has found a newer one since the page was read. */
  #recordHead(head: string): boolean {
    const known = this.#newest;
    this.#newest = sequenceIn(head) ?? known;
    return this.#newest >= known;
  }

  #lags(): number[] {
    return [...this.#readers].map(({ place }) => {
      const passed = place === null ? null : sequenceIn(place);
      return passed === null ? 0 : Math.max(0, this.#newest - passed);
    });
  }

  #onChange(): void {
    this.#changeNotifier += 1;
    const end = this.#tail;
    this.#tail = null;
    this.#readFor(end);
  }

  /** From now on: the end of the log as of this call. */
  async #start(reader: Reader<Item>): Promise<void> {
    const { log, tenant } = this.#options;
    try {
      reader.startAt(await log.head(tenant));
    } catch (error) {
      if (isTransient(error))
        setTimeout(() => this.#readers.has(reader) && this.#start(reader), RETRY_MS).unref();
      else this.#fail([reader], error);
    }
  }

  /** Reads what comes after the place, and wakes who waits there. */
  async #read(place: string): Promise<void> {
    if (this.#reading.has(place)) return;
    this.#reading.add(place);
    const changeNotifier = this.#changeNotifier;
    try {
      const { entries, scannedTo, hasMore, head } = await this.#page(place);
      this.#reading.delete(place);
      const isCurrent = this.#recordHead(head) && changeNotifier === this.#changeNotifier;
      const isEnd = !hasMore && isCurrent;
      const passed = this.#tail;
      if (isEnd) this.#tail = scannedTo;
      if (entries.size > 0) this.#publish(place, entries);
      // Nothing between the two places matches: nobody looks there again.
      else this.#blocked.move(place, scannedTo);
      // What was appended while reading has called back already, and nobody was told.
      if (!isEnd) this.#readFor(scannedTo);
      // The log ended there before, and its call is still to come, or was lost.
      else if (passed !== scannedTo) this.#readFor(passed);
    } catch (error) {
      this.#reading.delete(place);
      // Readers may have come since.
      if (error instanceof ReadAbortedError) this.#readFor(place);
      else if (isTransient(error)) this.#retryLater(place);
      else this.#fail(this.#blocked.release(place), error);
    }
  }

  /** One retry a place at a time, however often polls have it read meanwhile. */
  #retryLater(place: string): void {
    if (this.#retrying.has(place)) return;
    this.#retrying.add(place);
    setTimeout(() => {
      this.#retrying.delete(place);
      this.#readFor(place);
    }, RETRY_MS).unref();
  }

  /** For who waits at the place, if anybody does. */
  #readFor(place: string | null): void {
    if (place !== null && this.#blocked.has(place)) void this.#read(place);
  }

  async #page(place: string) {
    const { log, tenant, filter, render, sizeOf } = this.#options;
    const range = { after: place, filter, limit: PAGE, maxBytes: PAGE_BYTES, maxScanned: PAGE_SCAN_LIMIT };
    const page = await log.read(tenant, range, { signal: this.#reads.signal });
    const entries = new Map<string, FeedEntry>();
    let at = place;
    for (const [index, delivery] of page.deliveries.entries()) {
      const item = await render(delivery);
      const isLast = index === page.deliveries.length - 1;
      const next = isLast ? page.scannedTo : delivery.cursor;
      entries.set(at, { after: at, item, next, bytes: sizeOf(item) });
      at = next;
    }
    return { ...page, entries };
  }

  #publish(place: string, entries: ReadonlyMap<string, FeedEntry>): void {
    for (const entry of entries.values()) this.#options.cache.keep(entry, this.#cached);
    this.#currentPage = entries;
    for (const reader of this.#blocked.release(place)) reader.wake();
    this.#currentPage = new Map();
  }

  #fail(readers: Iterable<Reader<Item>>, error: unknown): void {
    const mapped = this.#options.mapError?.(error) ?? error;
    for (const reader of readers) reader.fail(mapped);
  }
}
