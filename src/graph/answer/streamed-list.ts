import type { SlicedWork } from './sliced-list.ts';

/**
 * A list whose items are read in batches, each when the executor asks for it. It ends early when the work is stopped. It
 * rejects where a batch can't be read: the executor then ends the list with the error.
 */
export class StreamedList<Item, Output = unknown> implements AsyncIterable<Output> {
  readonly #work: SlicedWork;
  readonly #batches: AsyncIterable<readonly Item[]>;
  readonly #read: (item: Item) => Output;
  /** Called before each item is yielded. */
  onItem: () => void = () => {};

  /** `read` is called for each item in its slice. */
  constructor(work: SlicedWork, batches: AsyncIterable<readonly Item[]>, read: (item: Item) => Output) {
    this.#work = work;
    this.#batches = batches;
    this.#read = read;
  }

  [Symbol.asyncIterator](): AsyncIterator<Output, undefined> {
    const batches = this.#batches[Symbol.asyncIterator]();
    let batch: readonly Item[] = [];
    let index = 0;
    let isOver = false;
    const end = (): IteratorResult<Output, undefined> => {
      isOver = true;
      return { done: true, value: undefined };
    };
    /** Returns whether there is an item left. */
    const readBatch = async (): Promise<boolean> => {
      while (index === batch.length) {
        const next = await batches.next();
        if (next.done) return false;
        batch = next.value;
        index = 0;
      }
      return true;
    };
    return {
      next: async () => {
        if (isOver || this.#work.isStopped || !(await readBatch())) return end();
        if (!this.#work.canContinue) await this.#work.nextSlice();
        const item = batch[index];
        if (this.#work.isStopped || item === undefined) return end();
        index += 1;
        this.onItem();
        return { done: false, value: this.#read(item) };
      },
      // The generator of the batches may wait for a page: its own `return` would not settle before that.
      return: async () => end(),
    };
  }
}
