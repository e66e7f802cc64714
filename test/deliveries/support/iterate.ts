import type { StoredDelivery } from '../../../src/deliveries/log/log.ts';
import type { EventReader, EventSource } from '../../../src/lib/event-source.ts';

type Result<Item> = IteratorResult<Item, undefined>;

const DONE = { done: true, value: undefined } as const;

/**
 * Iterates a reader: `next()` waits until there is an item. It is not an async generator, because return() on a generator
 * that awaits does not settle before the awaited promise does.
 */
class ReaderIterator<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #reader: EventReader<Item>;
  readonly #pending: PromiseWithResolvers<Result<Item>>[] = [];
  #ended = false;

  constructor(open: (wake: () => void) => EventReader<Item>) {
    this.#reader = open(() => this.#resolvePending());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<Item>> {
    if (this.#ended) return Promise.resolve(DONE);
    const pending = Promise.withResolvers<Result<Item>>();
    this.#pending.push(pending);
    this.#resolvePending();
    return pending.promise;
  }

  return(): Promise<Result<Item>> {
    this.#end();
    return Promise.resolve(DONE);
  }

  #resolvePending(): void {
    try {
      while (this.#pending.length > 0) {
        const value = this.#reader.take();
        if (value === null) return;
        this.#pending.shift()?.resolve({ done: false, value });
      }
    } catch (error) {
      this.#pending.shift()?.reject(error);
      this.#end();
    }
  }

  #end(): void {
    this.#ended = true;
    this.#reader.close();
    for (const pending of this.#pending.splice(0)) pending.resolve(DONE);
  }
}

/** Iterates the items of the reader that `open` returns. */
export const iterate = <Item>(
  open: (wake: () => void) => EventReader<Item>,
): AsyncIterableIterator<Item, undefined> => new ReaderIterator(open);

/** Iterates a source by a feed of its own. */
export const iterateSource = (
  source: EventSource<StoredDelivery>,
): AsyncIterableIterator<StoredDelivery, undefined> => {
  const feed = source.feed({ render: (delivery) => delivery, sizeOf: ({ body }) => body.byteLength });
  return iterate((wake) => feed.read(source.after, wake));
};
