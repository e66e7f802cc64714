import type { EventFeed, EventReader, EventSource, Rendering } from '../../lib/event-source.ts';
import { CursorExpiredError, isTransient, ReadAbortedError } from '../log/errors.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryReads, StoredDelivery } from '../log/log.ts';
import { type FeedCache, FeedPages, type FeedPosition, positionOf, renderPage } from './cache.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import type { MergedReads } from './merged-reads.ts';
import { BlockedReaders, Reader } from './reader.ts';

type FeedOptions<Item> = Rendering<StoredDelivery, Item> & {
  readonly log: DeliveryReads;
  /** Must read the same log. All feeds of a log share it. */
  readonly reads: MergedReads;
  /** Must watch the same log. */
  readonly changeNotifier: ChangeNotifier;
  readonly tenant: string;
  readonly filter: DeliveryFilter;
  readonly cache: FeedCache;
  /** Maps an error that ends readers to the error that they throw. Default: the error itself. */
  readonly mapError?: ((error: unknown) => unknown) | undefined;
};

/** Limits of one page that a feed reads. Where the log ends, thousands of readers may wait for it, so it has fewer deliveries. */
const PAGE_AT_END = { limit: 16, maxBytes: 32_768 };
const PAGE = { limit: 64, maxBytes: 32_768 };
/** A sixth of the CPU of a long replay went into what each page costs. */
const PAGE_OF_REPLAY = { limit: 256, maxBytes: 131_072 };
/** With a rare filter the feed advances by empty pages, so that no part of the log is searched twice. */
const PAGE_SCAN_LIMIT = 10_000;

/** Where this many deliveries follow at most, as far as is known, each of them is read: the log's index is for what is far behind. */
const NEAR = 256;
/** Where more deliveries follow, pages are long. */
const FAR = 4096;

const RETRY_MS = 1000;

/** The log has lost its newest deliveries, by a restore or a failover. Readers that go back must not get them again. */
const isOfLostCopy = (error: unknown): boolean =>
  error instanceof CursorExpiredError && (error.reason === 'ahead' || error.reason === 'replaced');

/** The pause before a failed read is retried. Jitter keeps readers from retrying in step after an outage. */
const retryDelayMs = (): number => RETRY_MS * (0.5 + Math.random());

/**
 * A tenant's deliveries through one filter, for any number of readers. The delivery after a cursor is read and rendered
 * once for all readers at that cursor, at the tail of the log and far behind it. While the log is unavailable, readers wait.
 */
export class Feed<Item> implements EventFeed<Item> {
  readonly #options: FeedOptions<Item>;
  readonly #pages: FeedPages<Item>;
  readonly #readers = new Set<Reader<Item>>();
  readonly #blocked = new BlockedReaders<Item>();
  /** The cursors after which a page is being read. */
  readonly #reading = new Set<string>();
  /** The cursors after which a page will be read again after a pause. */
  readonly #retrying = new Set<string>();
  /** The page that was read ahead last: where it begins and ends. Null once a reader has come to it. */
  #ahead: { readonly after: string; readonly end: FeedPosition } | null = null;
  /** The tail of the log, where readers stay blocked until the log changes; null while it is unknown. */
  #tail: FeedPosition | null = null;
  /** The highest sequence number that was seen in the log. */
  #newest = 0;
  /** Counts the change notifications, so that a read can tell whether one came while it was under way. */
  #changes = 0;
  /** Aborts the reads when the last reader has closed. */
  #reads = new AbortController();
  #stopListening: (() => void) | null = null;

  constructor(options: FeedOptions<Item>) {
    this.#options = options;
    this.#pages = new FeedPages(options.cache);
  }

  /** Opens a reader of what is stored after the cursor; null starts at the head of the log as of this call. */
  read(after: string | null, wake: () => void): EventReader<Item> {
    if (this.#readers.size === 0) this.#listen();
    const reader = new Reader(this.#source, after === null ? null : positionOf(after), wake);
    this.#readers.add(reader);
    if (after === null) void this.#start(reader);
    return reader;
  }

  readonly #source = {
    entryAfter: (cursor: string) => {
      const entry = this.#pages.entryAfter(cursor);
      if (entry && cursor === this.#ahead?.after) this.#readAhead(this.#ahead.end);
      return entry;
    },
    lagAt: (position: FeedPosition | null) =>
      Math.max(0, this.#newest - (position?.sequence ?? this.#newest)),
    block: (reader: Reader<Item>, position: FeedPosition) => {
      this.#blocked.add(position, reader);
      if (position.cursor !== this.#tail?.cursor) void this.#read(position.cursor);
    },
    remove: (reader: Reader<Item>) => {
      if (!this.#readers.delete(reader)) return;
      this.#blocked.remove(reader);
      if (this.#readers.size > 0) return;
      this.#stopListening?.();
      this.#reads.abort();
      this.#pages.clear();
      this.#options.onIdle?.();
    },
  };

  #listen(): void {
    this.#reads = new AbortController();
    const { changeNotifier, tenant } = this.#options;
    this.#stopListening = changeNotifier.subscribe(tenant, {
      onChange: () => this.#onChange(),
      onPoll: (head) => this.#onPoll(head),
    });
  }

  #onChange(): void {
    this.#changes += 1;
    const tail = this.#tail;
    this.#tail = null;
    this.#readIfBlocked(tail?.cursor);
  }

  /** A notification may have been lost: reads after each cursor that lies before the head and has blocked readers. */
  #onPoll(head: number): void {
    const isBehind = ({ sequence }: FeedPosition) => (sequence ?? 0) < head;
    this.#newest = Math.max(this.#newest, head);
    if (this.#tail !== null && isBehind(this.#tail)) this.#tail = null;
    for (const position of this.#blocked.positions())
      if (isBehind(position)) void this.#read(position.cursor);
  }

  /** Starts a reader at the head of the log as of this call. */
  async #start(reader: Reader<Item>): Promise<void> {
    const { log, tenant } = this.#options;
    try {
      reader.startAt(positionOf(await log.head(tenant)));
    } catch (error) {
      if (isTransient(error))
        setTimeout(() => this.#readers.has(reader) && this.#start(reader), retryDelayMs()).unref();
      else this.#fail([reader], error);
    }
  }

  /** Reads and renders the page after the cursor, and wakes the readers that are blocked there. */
  async #read(cursor: string): Promise<void> {
    if (this.#reading.has(cursor)) return;
    this.#reading.add(cursor);
    const changes = this.#changes;
    try {
      const page = await this.#readPage(cursor);
      this.#planAhead(cursor, page);
      const entries = await renderPage(cursor, page, this.#options);
      this.#reading.delete(cursor);
      const end = positionOf(page.scannedTo);
      const isCurrent = this.#recordHead(page.head) && changes === this.#changes;
      const isTail = !page.hasMore && isCurrent;
      const oldTail = this.#tail;
      if (isTail) this.#tail = end;
      if (entries.size > 0) this.#pages.publish(entries, () => this.#wakeAt(cursor));
      // Nothing between the two cursors matches the filter: blocked readers skip that range.
      else this.#blocked.move(cursor, end);
      // The notification of a delivery appended during the read may have come before these readers were blocked.
      if (!isTail) this.#readIfBlocked(end.cursor);
      // The log ended at the old tail before. Its notification is still to come, or was lost.
      else if (oldTail?.cursor !== end.cursor) this.#readIfBlocked(oldTail?.cursor);
    } catch (error) {
      this.#reading.delete(cursor);
      // New readers may have been opened since the abort.
      if (error instanceof ReadAbortedError) this.#readIfBlocked(cursor);
      else if (isTransient(error)) this.#retryLater(cursor);
      else {
        if (isOfLostCopy(error)) this.#pages.clear();
        this.#fail(this.#blocked.release(cursor), error);
      }
    }
  }

  /** What follows the page is read once a reader begins with it. A search that was cut takes longer than to send what it found. */
  #planAhead(after: string, { hasMore, isCut, scannedTo }: DeliveryPage): void {
    if (!hasMore || isCut) return;
    const end = positionOf(scannedTo);
    if (this.#blocked.has(after)) this.#readAhead(end);
    else this.#ahead = { after, end };
  }

  /**
   * Reads the page after the end of another one while that is sent, if far more follows. It waits in the cache, within its
   * budget. Nothing is gained by it while the log is read for other feeds.
   */
  #readAhead(end: FeedPosition): void {
    this.#ahead = null;
    const isFar = this.#newest - (end.sequence ?? 0) > FAR;
    if (isFar && !this.#options.reads.isReading && this.#pages.entryAfter(end.cursor) === undefined)
      void this.#read(end.cursor);
  }

  #readPage(after: string): Promise<DeliveryPage> {
    const { reads, tenant, filter } = this.#options;
    const behind = this.#newest - (positionOf(after).sequence ?? 0);
    const isNear = behind <= NEAR;
    const page = isNear ? PAGE_AT_END : behind <= FAR ? PAGE : PAGE_OF_REPLAY;
    const range = { after, filter, ...page, maxScanned: PAGE_SCAN_LIMIT };
    const { signal } = this.#reads;
    return isNear ? reads.read(tenant, range, signal) : reads.readFar(tenant, range, signal);
  }

  /** Records the head of a page. Returns false if a poll has found a newer head since the page was read. */
  #recordHead(head: string): boolean {
    const known = this.#newest;
    this.#newest = positionOf(head).sequence ?? known;
    return this.#newest >= known;
  }

  /** Schedules one retry per cursor at a time, however often polls start a read meanwhile. */
  #retryLater(cursor: string): void {
    if (this.#retrying.has(cursor)) return;
    this.#retrying.add(cursor);
    setTimeout(() => {
      this.#retrying.delete(cursor);
      this.#readIfBlocked(cursor);
    }, retryDelayMs()).unref();
  }

  #readIfBlocked(cursor: string | undefined): void {
    if (cursor !== undefined && this.#blocked.has(cursor)) void this.#read(cursor);
  }

  #wakeAt(cursor: string): void {
    for (const reader of this.#blocked.release(cursor)) reader.wake();
  }

  #fail(readers: Iterable<Reader<Item>>, error: unknown): void {
    const mapped = this.#options.mapError?.(error) ?? error;
    for (const reader of readers) reader.fail(mapped);
  }
}

type Shared = 'log' | 'reads' | 'changeNotifier' | 'tenant' | 'cache' | 'filter' | 'mapError';

type SourceOptions = Pick<FeedOptions<unknown>, Shared> & {
  /** The cursor to resume after; null starts at the head of the log. */
  readonly after: string | null;
};

/** Creates the source of one subscriber's deliveries. Subscribers to one tenant with one filter have equal keys. */
export const createDeliverySource = ({ after, ...options }: SourceOptions): EventSource<StoredDelivery> => ({
  key: JSON.stringify([options.tenant, options.filter]),
  after,
  feed: (rendering) => new Feed({ ...options, ...rendering }),
  // GraphQL accepts only an async iterable from `subscribe`. The gateway reads every source through a feed instead.
  [Symbol.asyncIterator]() {
    throw new TypeError('Expected a delivery source to be read through a feed, got an iteration.');
  },
});
