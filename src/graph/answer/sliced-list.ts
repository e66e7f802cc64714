/** Long work that runs in time slices, and that may be stopped. */
export type SlicedWork = {
  /** Whether the rest of the work is not needed any more. Once true it stays true. */
  readonly isStopped: boolean;
  /** Whether the work may continue at once. Otherwise `nextSlice` resolves when it may. */
  readonly canContinue: boolean;
  nextSlice(): Promise<void>;
};

/**
 * A list whose items the executor completes one by one, in as many time slices as that takes. It ends early when the work
 * is stopped. It never rejects: the executor would then drop the items that it has begun to complete, with their failures.
 */
export class SlicedList<Item, Output = Item> implements AsyncIterable<Output> {
  readonly length: number;
  readonly #work: SlicedWork;
  readonly #items: readonly Item[];
  readonly #read: (item: Item) => Output | undefined;

  /** `read` is called for each item in its slice. An item that it makes undefined is left out. */
  constructor(work: SlicedWork, items: readonly Item[], read: (item: Item) => Output | undefined) {
    this.length = items.length;
    this.#work = work;
    this.#items = items;
    this.#read = read;
  }

  [Symbol.asyncIterator](): AsyncIterator<Output, undefined> {
    const items = this.#items[Symbol.iterator]();
    const readNext = (): IteratorResult<Output, undefined> => {
      for (let item = items.next(); !item.done; item = items.next()) {
        if (this.#work.isStopped) break;
        const value = this.#read(item.value);
        if (value !== undefined) return { done: false, value };
      }
      return { done: true, value: undefined };
    };
    return {
      next: () =>
        this.#work.canContinue ? Promise.resolve(readNext()) : this.#work.nextSlice().then(readNext),
    };
  }
}
