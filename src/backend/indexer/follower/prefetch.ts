import type { FetchedBlock } from '../../node/answers.ts';

type Fetching = { readonly block: Promise<FetchedBlock>; isReady: boolean };

const MAX_BLOCKS = 32;
const MIN_BLOCKS = 4;
/** The number of transactions that may wait in fetched blocks, about. */
const MAX_TRANSACTIONS = 1_000;

/** Fetches the blocks of a walk ahead of it, several at a time and fewer where they are large. */
export class Prefetch {
  readonly #fetch: (number: number) => Promise<FetchedBlock>;
  readonly #fetching = new Map<number, Fetching>();
  #width = MIN_BLOCKS;

  constructor(fetch: (number: number) => Promise<FetchedBlock>) {
    this.#fetch = fetch;
  }

  /**
   * Takes the block `next` of a walk to the block `last`, and after it those that have come already, until there are
   * `transactions` transactions. Rejects when the first one can't be fetched. It is fetched anew when it is taken again.
   */
  async take(
    next: number,
    last: number,
    transactions: number,
  ): Promise<readonly [FetchedBlock, ...FetchedBlock[]]> {
    const step = last < next ? -1 : 1;
    const left = Math.abs(last - next) + 1;
    for (let at = 0; at < Math.min(left, this.#width); at++) this.#begin(next + at * step);
    const first = await this.#taken(next);
    const blocks: [FetchedBlock, ...FetchedBlock[]] = [first];
    let taken = first.block.transactions.length;
    while (taken < transactions && blocks.length < left) {
      const number = next + blocks.length * step;
      if (this.#fetching.get(number)?.isReady !== true) break;
      const block = await this.#taken(number);
      taken += block.block.transactions.length;
      blocks.push(block);
    }
    const size = Math.max(1, first.block.transactions.length);
    this.#width = Math.max(MIN_BLOCKS, Math.min(MAX_BLOCKS, Math.floor(MAX_TRANSACTIONS / size)));
    return blocks;
  }

  /** Forgets all blocks, as after a reorg. */
  clear(): void {
    this.#fetching.clear();
  }

  #begin(number: number): Fetching {
    const known = this.#fetching.get(number);
    if (known !== undefined) return known;
    const fetching: Fetching = { block: this.#fetch(number), isReady: false };
    this.#fetching.set(number, fetching);
    fetching.block.then(
      () => {
        fetching.isReady = true;
      },
      () => {
        // It is fetched again when the walk comes to it. Where the walk is there already, this is the walk's failure.
        if (this.#fetching.get(number) === fetching) this.#fetching.delete(number);
      },
    );
    return fetching;
  }

  async #taken(number: number): Promise<FetchedBlock> {
    const { block } = this.#begin(number);
    const taken = await block;
    this.#fetching.delete(number);
    return taken;
  }
}
