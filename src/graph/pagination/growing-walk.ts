import type { ReadPage } from '../../upstream/list-loader.ts';
import type { CursorPosition } from './cursor.ts';
import type { PageSlice } from './merge-pages.ts';
import { type Entry, entriesOf } from './run.ts';
import { slicesOf, WalkedItems } from './walk.ts';

/** A walk that reads a page when its items are asked for. Its readers share what it has read. */
export class GrowingWalk<Value> {
  /** The items so far. */
  readonly items: WalkedItems<Value>;
  readonly #slices: AsyncIterator<PageSlice<Value>>;
  #hasEnded: boolean;
  /** The page that is being read. After a failure it stays rejected. */
  #page: Promise<void> | null = null;

  constructor(first: number, slices: AsyncIterable<PageSlice<Value>> | null) {
    this.items = new WalkedItems(first);
    this.#slices = (slices ?? none())[Symbol.asyncIterator]();
    this.#hasEnded = slices === null;
  }

  /** Begins a walk, see `walk`, and reads its first page. */
  static async begin<Value>(
    read: ReadPage<Value>,
    first: number,
    after: CursorPosition | null,
  ): Promise<GrowingWalk<Value>> {
    const growing = new GrowingWalk(first, await slicesOf(read, first, after));
    if (!growing.#hasEnded) await growing.#readPage();
    return growing;
  }

  /** Yields the items, page by page. Throws the error of a page that can't be read. */
  async *pages(): AsyncGenerator<readonly Entry<Value>[], void, undefined> {
    for (let next = 0; ; ) {
      const runs = this.items.runs.slice(next);
      next += runs.length;
      if (runs.length > 0) yield entriesOf(runs);
      else if (this.#hasEnded) return;
      else await this.#readPage();
    }
  }

  /** Resolves when all pages are read. Rejects with the error of one that can't be. */
  async ended(): Promise<void> {
    while (!this.#hasEnded) await this.#readPage();
  }

  #readPage(): Promise<void> {
    this.#page ??= this.#addPage().then(() => {
      this.#page = null;
    });
    return this.#page;
  }

  async #addPage(): Promise<void> {
    const { done, value } = await this.#slices.next();
    this.#hasEnded = done === true || this.items.add(value);
  }
}

async function* none(): AsyncGenerator<never, void, undefined> {}
