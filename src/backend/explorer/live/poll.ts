import type { Log } from '../../dispatch/log.ts';
import { Refused } from '../../http/query.ts';
import type { Detail } from '../../source.ts';
import type { BalanceChange, Effect, Finding, FoundTransaction, Hex } from '../../types.ts';
import { effectsOf } from '../activity.ts';
import type { Lookup } from '../client/chain.ts';
import type { WatchedChain } from './account.ts';
import type { Progress } from './progress.ts';

/** The pages that a poll reads back to what was told. Explorers have 50 or 100 rows on each. */
const MAX_PAGES = 40;
/** The polls after which a transaction is told of which the explorer does not say whether it succeeded. */
const MAX_UNCLEAR = 10;
/** What an address has is known as of now alone, and not as of a block. */
const UNKNOWN: BalanceChange = { before: null, after: null };
const DETAILS: ReadonlySet<Detail> = new Set(['logs', 'block_hash']);
const ANYTHING = { types: null, assetTypes: null, tokens: null };

type Page = Awaited<ReturnType<typeof effectsOf>>;
type Item = Page['items'][number];

type Parts = {
  readonly chain: WatchedChain;
  readonly address: Hex;
  /** The blocks on top of a block before it is told of. */
  readonly confirmations: number;
  readonly progress: Progress;
  readonly tell: (finding: Finding) => void;
  /** Whether it still is: what was begun before it was not is not told. */
  readonly isWatched: () => boolean;
  readonly log: Log;
};

/**
 * Asks for what is new of one address, and tells of each block once it has enough confirmations. Blocks are told in their order, and
 * each is noted as it is told: a poll that fails goes on behind the last one.
 */
export class AddressPoll {
  readonly #parts: Parts;
  /** Whether something is known that has too few confirmations. */
  #isWaiting = false;
  #unclear = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects with Refused where the explorer can't be asked now. `withTransactions` also reads what transactions have beside their effects. */
  async run(withTransactions: boolean): Promise<void> {
    const { chain, address, progress, confirmations } = this.#parts;
    const told = progress.toldUpTo(chain.explorer.chain.id, address);
    // What has its confirmations before the first poll is not told.
    if (told === null) return this.#tell(Math.max(-1, (await chain.head()) - confirmations));
    const first = this.#isWaiting ? null : await this.#page(null);
    if (first !== null && !first.items.some((item) => blockOf(item) > told)) return;
    // The lists are read once more: what they were read for before may have come between the two.
    const upTo = (await chain.head()) - confirmations;
    this.#isWaiting = true;
    if (upTo <= told || (first !== null && isAllAbove(first, told, upTo))) return;
    const { items, floor } = await this.#walk(told);
    if (floor > told) this.#missed(told + 1, floor);
    const confirmed = items.filter((item) => blockOf(item) <= upTo);
    for (const [number, each] of Map.groupBy(confirmed.toReversed(), blockOf))
      await this.#tellBlock(number, each, withTransactions);
    this.#tell(upTo);
    this.#isWaiting = confirmed.length < items.length;
  }

  async #page(after: Page['next']): Promise<Page> {
    const { address, chain } = this.#parts;
    const { explorer, lists } = chain;
    const start = after && { place: after, including: false };
    const page = await effectsOf(explorer, lists.ofWallets, address, start, ANYTHING, this.#lookup());
    if (page.lacksTransfers) throw new Refused(503, "The wallet's token transfers could not be read");
    return page;
  }

  #lookup(): Lookup {
    const { address, chain } = this.#parts;
    return chain.account.lookup(chain.explorer, address);
  }

  /** What is above a block, the newest first; and the block above which that is all. */
  async #walk(told: number): Promise<{ readonly items: readonly Item[]; readonly floor: number }> {
    const items: Item[] = [];
    let page = await this.#page(null);
    for (let pages = 1; ; pages += 1) {
      items.push(...page.items.filter((item) => blockOf(item) > told));
      const floor = floorOf(page);
      if (floor <= told) return { items, floor: told };
      if (pages === MAX_PAGES) return { items, floor };
      page = await this.#page(page.next);
    }
  }

  async #tellBlock(number: number, items: readonly Item[], withTransactions: boolean): Promise<void> {
    const { address, chain } = this.#parts;
    const unclear = items.find(({ transaction }) => transaction.success === null);
    if (unclear !== undefined) this.#wonder(unclear.transaction.hash);
    const transactions: FoundTransaction[] = [];
    for (const item of items) transactions.push(await this.#found(item, withTransactions));
    this.#unclear = 0;
    this.#tell(number, { chain: chain.explorer.chain, address, number, transactions });
  }

  async #found({ transaction, row }: Item, withTransactions: boolean): Promise<FoundTransaction> {
    const { address, chain } = this.#parts;
    const listed =
      row === null || !withTransactions
        ? null
        : await chain.lists.transactions.ofRow(row, DETAILS, this.#lookup());
    return { ...transaction, effects: transaction.effects.map((each) => withChange(each, address)), listed };
  }

  /** Throws while the explorer may still say how a transaction ended. */
  #wonder(hash: Hex): void {
    const { address, chain, log } = this.#parts;
    const { id } = chain.explorer.chain;
    this.#unclear += 1;
    if (this.#unclear < MAX_UNCLEAR)
      throw new Refused(503, `The explorer of chain ${id} does not say whether ${hash} succeeded`);
    const problem = 'the explorer does not say whether it succeeded';
    log('a transaction is told of without its activities', { chain: id, address, hash, problem });
  }

  #missed(from: number, to: number): void {
    const { address, chain, log } = this.#parts;
    chain.account.gaps += 1;
    const problem = 'there is more than is read at once';
    log('events of blocks are not told', { chain: chain.explorer.chain.id, address, from, to, problem });
  }

  #tell(block: number, finding: Finding | null = null): void {
    const { address, chain, progress, tell, isWatched } = this.#parts;
    // Who begins to watch again begins anew.
    if (!isWatched()) return;
    progress.tell(chain.explorer.chain.id, address, block, () => {
      if (finding !== null) tell(finding);
    });
  }
}

const blockOf = ({ transaction }: Item): number => transaction.blockNumber;

/** The block down to which a page does not go. */
const floorOf = ({ next }: Page): number => (next === null ? -1 : Number(next[0]) - 1);

/** Whether everything above `told` is on the page, and above `upTo`. */
const isAllAbove = (page: Page, told: number, upTo: number): boolean =>
  floorOf(page) <= told && page.items.every((item) => blockOf(item) <= told || blockOf(item) > upTo);

/** What moves to or from the address changes its balance. */
const withChange = (effect: Effect, address: Hex): Effect =>
  effect.kind === 'transfer'
    ? {
        ...effect,
        balances: {
          from: effect.from === address ? UNKNOWN : null,
          to: effect.to === address ? UNKNOWN : null,
        },
      }
    : effect;
