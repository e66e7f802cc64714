import type { EventReader } from '../../streams/event-source.ts';
import type { FeedEntry } from './cache.ts';

/** What readers read from. */
type Source<Item> = {
  entryAfter(place: string): FeedEntry | undefined;
  wait(reader: Reader<Item>, place: string): void;
  stopWaiting(reader: Reader<Item>): void;
};

/**
 * One subscriber's reader. `take` throws CursorExpiredError, InvalidCursorError, LogClosedError, or what `render` threw.
 */
export class Reader<Item> implements EventReader<Item> {
  readonly #source: Source<Item>;
  readonly #wake: () => void;
  /** Null until the log has said where its end is. */
  place: string | null;
  #isClosed = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(source: Source<Item>, place: string | null, wake: () => void) {
    this.#source = source;
    this.place = place;
    this.#wake = wake;
  }

  wake(): void {
    if (!this.#isClosed) this.#wake();
  }

  take(): Item | null {
    if (this.#isClosed) return null;
    if (this.#failure !== null) throw this.#failure.error;
    if (this.place === null) return null;
    const entry = this.#source.entryAfter(this.place);
    if (entry === undefined) {
      this.#source.wait(this, this.place);
      return null;
    }
    this.place = entry.next;
    return entry.item as Item;
  }

  close(): void {
    this.#isClosed = true;
    this.#source.stopWaiting(this);
  }

  startAt(place: string): void {
    this.place = place;
    this.wake();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.wake();
  }
}
