import type { EventReader } from '../../streams/event-source.ts';

/**
 * What a reader takes, for who pulls: `next()` waits until there is an item. Written by hand: return() on an async
 * generator that waits for something does not settle until that has come.
 */
export const iterate = <Item>(
  open: (wake: () => void) => EventReader<Item>,
): AsyncIterableIterator<Item, undefined> => new FeedIterator(open);

type Result<Item> = IteratorResult<Item, undefined>;

const DONE = { done: true, value: undefined } as const;

class FeedIterator<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #reader: EventReader<Item>;
  #asked: PromiseWithResolvers<Result<Item>>[] = [];
  #ended = false;

  constructor(open: (wake: () => void) => EventReader<Item>) {
    this.#reader = open(() => this.#answer());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<Item>> {
    if (this.#ended) return Promise.resolve(DONE);
    const asked = Promise.withResolvers<Result<Item>>();
    this.#asked.push(asked);
    this.#answer();
    return asked.promise;
  }

  return(): Promise<Result<Item>> {
    this.#end();
    return Promise.resolve(DONE);
  }

  #answer(): void {
    try {
      while (this.#asked.length > 0) {
        const value = this.#reader.take();
        if (value === null) return;
        this.#asked.shift()?.resolve({ done: false, value });
      }
    } catch (error) {
      this.#asked.shift()?.reject(error);
      this.#end();
    }
  }

  #end(): void {
    this.#ended = true;
    this.#reader.close();
    for (const asked of this.#asked.splice(0)) asked.resolve(DONE);
  }
}
