import type { EventReader } from '../../lib/event-source.ts';
import type { FeedEntry, FeedPosition } from './cache.ts';

/** The feed as its readers see it. */
type Source<Item> = {
  entryAfter(cursor: string): FeedEntry<Item> | undefined;
  /** The number of deliveries after a position, as far as is known. */
  lagAt(position: FeedPosition | null): number;
  /** Wakes the reader once an entry after its position may be available. */
  block(reader: Reader<Item>, position: FeedPosition): void;
  remove(reader: Reader<Item>): void;
};

/**
 * One subscriber's reader. `take` throws CursorExpiredError, InvalidCursorError, LogClosedError or an error of `render`.
 */
export class Reader<Item> implements EventReader<Item> {
  readonly #source: Source<Item>;
  readonly #wake: () => void;
  /** Null until the log has answered where its head is. */
  position: FeedPosition | null;
  /** Its place among the blocked readers at its position. */
  index = 0;
  #isClosed = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(source: Source<Item>, position: FeedPosition | null, wake: () => void) {
    this.#source = source;
    this.position = position;
    this.#wake = wake;
  }

  wake(): void {
    if (!this.#isClosed) this.#wake();
  }

  take(): Item | null {
    if (this.#isClosed) return null;
    if (this.#failure !== null) throw this.#failure.error;
    if (this.position === null) return null;
    const entry = this.#source.entryAfter(this.position.cursor);
    if (entry === undefined) {
      this.#source.block(this, this.position);
      return null;
    }
    this.position = entry.next;
    return entry.item;
  }

  lag(): number {
    return this.#source.lagAt(this.position);
  }

  close(): void {
    this.#isClosed = true;
    this.#source.remove(this);
  }

  startAt(position: FeedPosition): void {
    this.position = position;
    this.wake();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.wake();
  }
}

type Blocked<Item> = { readonly position: FeedPosition; readonly readers: Reader<Item>[] };

/** The readers that have taken all entries that were available, by the cursor of their position. */
export class BlockedReaders<Item> {
  readonly #byCursor = new Map<string, Blocked<Item>>();

  positions(): FeedPosition[] {
    return [...this.#byCursor.values()].map(({ position }) => position);
  }

  has(cursor: string): boolean {
    return this.#byCursor.has(cursor);
  }

  add(position: FeedPosition, reader: Reader<Item>): void {
    const blocked = this.#byCursor.get(position.cursor);
    reader.index = blocked?.readers.length ?? 0;
    if (blocked) blocked.readers.push(reader);
    else this.#byCursor.set(position.cursor, { position, readers: [reader] });
  }

  remove(reader: Reader<Item>): void {
    if (reader.position === null) return;
    const { cursor } = reader.position;
    const readers = this.#byCursor.get(cursor)?.readers;
    if (readers?.[reader.index] !== reader) return;
    const last = readers.pop();
    if (last === undefined || readers.length === 0) this.#byCursor.delete(cursor);
    else if (last !== reader) {
      readers[reader.index] = last;
      last.index = reader.index;
    }
  }

  /** Removes and returns the readers at the cursor. */
  release(cursor: string): Iterable<Reader<Item>> {
    const readers = this.#byCursor.get(cursor)?.readers ?? [];
    this.#byCursor.delete(cursor);
    return readers;
  }

  /** Moves the readers at the cursor to the position `to`, where they stay blocked. */
  move(cursor: string, to: FeedPosition): void {
    if (cursor === to.cursor) return;
    for (const reader of this.release(cursor)) {
      reader.position = to;
      this.add(to, reader);
    }
  }
}
