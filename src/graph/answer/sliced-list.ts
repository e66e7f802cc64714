/** Says when long work may go on, and whether it still has to. */
export type SliceTurns = {
  readonly isOver: boolean;
  /** Called when something is left out because it is over. */
  cut(): void;
  /** Whether it may go on at once; else `turn` resolves when it may. */
  readonly hasTurn: boolean;
  turn(): Promise<void>;
};

/**
 * A list whose items the executor completes one by one, in as many turns as that takes. It never rejects: the executor
 * would then drop the items that it has begun to complete, with their failures.
 */
export class SlicedList<Item, Given = Item> implements AsyncIterable<Given> {
  readonly length: number;
  readonly #turns: SliceTurns;
  readonly #items: readonly Item[];
  readonly #read: (item: Item) => Given | undefined;

  /** `read` makes what is given of an item when its turn has come; an item that it makes undefined is left out. */
  constructor(turns: SliceTurns, items: readonly Item[], read: (item: Item) => Given | undefined) {
    this.length = items.length;
    this.#turns = turns;
    this.#items = items;
    this.#read = read;
  }

  [Symbol.asyncIterator](): AsyncIterator<Given, undefined> {
    const items = this.#items[Symbol.iterator]();
    const give = (): IteratorResult<Given, undefined> => {
      for (let item = items.next(); !item.done; item = items.next()) {
        if (this.#turns.isOver) {
          this.#turns.cut();
          break;
        }
        const value = this.#read(item.value);
        if (value !== undefined) return { done: false, value };
      }
      return { done: true, value: undefined };
    };
    return { next: () => (this.#turns.hasTurn ? Promise.resolve(give()) : this.#turns.turn().then(give)) };
  }
}
