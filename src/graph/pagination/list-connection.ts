import type { MaybePromise } from '../../lib/tasks.ts';
import type { ReadPage } from '../../upstream/list-loader.ts';
import type { PartialErrors } from '../../upstream/page.ts';
import type { Answer } from '../answer/answer.ts';
import type { AnswerList } from '../answer/weights.ts';
import type { GrowingPlannedList, PlannedRun } from '../plan/list-writer.ts';
import type { CursorPosition } from './cursor.ts';
import { type Entry, entriesOf, type Run } from './entries.ts';
import type { PageSlices } from './merge-pages.ts';
import { type Passes, slicesOf, WalkedItems } from './walk.ts';

/** What the fields of a connection over upstream pages resolve to. */
export type ListConnection = {
  edges(answer: Answer): AnswerList;
  nodes(answer: Answer): AnswerList;
  readonly pageInfo: MaybePromise<PageInfo>;
  readonly requestTime: MaybePromise<string | null>;
  readonly responseTime: MaybePromise<string | null>;
  readonly partialErrors: MaybePromise<PartialErrors | null>;
  /** What the list says beside its items: see `Page`. */
  readonly more: MaybePromise<unknown>;
};

/** Each cursor is made only when it is selected. */
export type PageInfo = {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
};

/** A walk that reads a page when its items are requested. Its readers share what it has read. */
export class GrowingWalk<Value> {
  /** The items so far. */
  readonly items: WalkedItems<Value>;
  /** Null if the walk finds nothing. */
  readonly #slices: PageSlices<Value> | null;
  #hasEnded: boolean;
  /** The page that is being read. After a failure it stays rejected. */
  #page: Promise<void> | null = null;

  constructor(first: number, slices: PageSlices<Value> | null, isFiltered = false) {
    this.items = new WalkedItems(first, isFiltered);
    this.#slices = slices;
    this.#hasEnded = slices === null;
  }

  /** Begins a walk, see `walk`, and reads its first page. */
  static async begin<Value>(
    read: ReadPage<Value>,
    first: number,
    after: CursorPosition | null,
    passes: Passes<Value> | null = null,
  ): Promise<GrowingWalk<Value>> {
    const growing = new GrowingWalk(first, await slicesOf(read, first, after, passes), passes !== null);
    if (!growing.#hasEnded) await growing.#readPage();
    return growing;
  }

  /** Yields the items, page by page. Throws the error of a page that can't be read. */
  async *pages(): AsyncGenerator<readonly Run<Value>[], void, undefined> {
    for (let next = 0; ; ) {
      const runs = this.items.runs.slice(next);
      next += runs.length;
      if (runs.length > 0) yield runs;
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
    const slice = (await this.#slices?.next()) ?? null;
    this.#hasEnded = slice === null || this.items.add(slice);
  }
}

async function* mapped<Item, Output>(
  items: AsyncIterable<Item>,
  map: (item: Item) => Output,
): AsyncGenerator<Output, void, undefined> {
  for await (const item of items) yield map(item);
}

/** The connection of the items that a walk has read so far. */
type ConnectionSoFar<Value> = {
  edgeOf(entry: Entry<Value>): unknown;
  nodeOf(entry: Entry<Value>): unknown;
  runsOf(runs: readonly Run<Value>[]): readonly PlannedRun[];
  readonly pageInfo: PageInfo;
  readonly requestTime: string | null;
  readonly responseTime: string | null;
  readonly partialErrors: PartialErrors | null;
  readonly more: unknown;
};

/**
 * A connection whose items the executor takes as upstream pages arrive, see `@stream`. Everything that depends on the last
 * item waits for it: if the first part selects `pageInfo`, that part waits for all pages.
 */
export class StreamedConnection<Value> implements ListConnection, GrowingPlannedList {
  readonly #walk: GrowingWalk<Value>;
  readonly #soFar: ConnectionSoFar<Value>;

  constructor(walk: GrowingWalk<Value>, soFar: ConnectionSoFar<Value>) {
    this.#walk = walk;
    this.#soFar = soFar;
  }

  get runs(): AsyncIterable<readonly PlannedRun[]> {
    return mapped(this.#walk.pages(), (runs) => this.#soFar.runsOf(runs));
  }

  edges(answer: Answer): AnswerList {
    return answer.streamedList(mapped(this.#walk.pages(), entriesOf), this.#soFar.edgeOf);
  }

  nodes(answer: Answer): AnswerList {
    return answer.streamedList(mapped(this.#walk.pages(), entriesOf), this.#soFar.nodeOf);
  }

  get pageInfo(): Promise<PageInfo> {
    return this.#whole().then(({ pageInfo }) => pageInfo);
  }

  get requestTime(): Promise<string | null> {
    return this.#whole().then(({ requestTime }) => requestTime);
  }

  get responseTime(): Promise<string | null> {
    return this.#whole().then(({ responseTime }) => responseTime);
  }

  get partialErrors(): Promise<PartialErrors | null> {
    return this.#whole().then(({ partialErrors }) => partialErrors);
  }

  get more(): Promise<unknown> {
    return this.#whole().then(({ more }) => more);
  }

  async #whole(): Promise<ConnectionSoFar<Value>> {
    await this.#walk.ended();
    return this.#soFar;
  }
}
