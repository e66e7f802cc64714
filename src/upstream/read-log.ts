import type { PageRead } from './list-loader.ts';
import type { Page } from './page.ts';

/** A page that an operation has begun to read. `Reader` is what an operation reads with. */
export type LoggedRead<Reader> = {
  /** Undefined until the read has settled; null if it failed. */
  readonly page: Page<unknown> | null | undefined;
  /** Makes another operation read the same page for itself. A rejection of the promise may be ignored. */
  repeat(reader: Reader): Promise<Page<unknown>>;
};

/** What has happened to a read. */
export type ReadEvent<Reader> = { readonly kind: 'started' | 'settled'; readonly read: LoggedRead<Reader> };

/** The reads of one operation, in the order in which they start and settle. */
export class ReadLog<Reader> {
  readonly #events: ReadEvent<Reader>[] = [];
  readonly #stored: PageRead[] = [];
  #waiting: PromiseWithResolvers<void> | null = null;
  #hasEnded = false;

  /** The reads that have got their pages. They may outlive the operation. */
  get stored(): readonly PageRead[] {
    return this.#stored;
  }

  /** Adds a read that starts, and later its page. `toStored` makes what may outlive the operation. */
  add<Value>(
    page: Promise<Page<Value>>,
    repeat: LoggedRead<Reader>['repeat'],
    toStored: (page: Page<Value>) => PageRead,
  ): void {
    const read: { page: Page<Value> | null | undefined; repeat: typeof repeat } = { page: undefined, repeat };
    const settle = (settled: Page<Value> | null): void => {
      read.page = settled;
      if (settled) this.#stored.push(toStored(settled));
      this.#push({ kind: 'settled', read });
    };
    this.#push({ kind: 'started', read });
    page.then(settle, () => settle(null));
  }

  /** Adds reads of an earlier operation, whose answer is that of this one. */
  adopt(stored: readonly PageRead[]): void {
    this.#stored.push(...stored);
  }

  /** Ends the log: the operation is answered. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** Resolves with the event at this place once it has happened, or with null when the log ends without it. */
  async at(place: number): Promise<ReadEvent<Reader> | null> {
    for (;;) {
      const event = this.#events[place];
      if (event) return event;
      if (this.#hasEnded) return null;
      this.#waiting ??= Promise.withResolvers();
      await this.#waiting.promise;
    }
  }

  #push(event: ReadEvent<Reader>): void {
    this.#events.push(event);
    this.#wake();
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = null;
  }
}
