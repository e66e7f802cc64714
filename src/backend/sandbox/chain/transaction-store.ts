import type { Listed, PageStart, Part } from '../../source.ts';
import type { Effect, Hex, Transaction } from '../../types.ts';
import type { MinedTransaction } from './block-builder.ts';

/**
 * The live transactions that are stored of one account, beside its whole history. The oldest are deleted for new ones.
 */
const MAX_LIVE = { wallet: 1_500, counterparty: 40 };

/** Transactions are deleted in batches of this part of what is stored, which keeps the cost of one more small. */
const SLACK = 1 / 6;

type Stored = {
  readonly past: MinedTransaction[];
  readonly live: MinedTransaction[];
  readonly maxLive: number;
};

/**
 * The transactions of every demo wallet and counterparty, in order. The whole history is stored. Of the live
 * transactions only each account's newest are, so the memory is bounded by the number of accounts, however long the
 * sandbox runs.
 */
export class TransactionStore {
  readonly #accounts = new Map<Hex, Stored>();

  constructor(wallets: readonly Hex[], counterparties: readonly Hex[]) {
    for (const account of counterparties)
      this.#accounts.set(account, { past: [], live: [], maxLive: MAX_LIVE.counterparty });
    for (const account of wallets)
      this.#accounts.set(account, { past: [], live: [], maxLive: MAX_LIVE.wallet });
  }

  addPast(transaction: MinedTransaction): void {
    for (const party of partiesOf(transaction)) this.#accounts.get(party)?.past.push(transaction);
  }

  addLive(transaction: MinedTransaction): void {
    for (const party of partiesOf(transaction)) {
      const stored = this.#accounts.get(party);
      if (stored === undefined) continue;
      const { live, maxLive } = stored;
      live.push(transaction);
      const slack = Math.ceil(maxLive * SLACK);
      if (live.length > maxLive + slack) live.splice(0, slack);
    }
  }

  /** Looks through all that are stored: an index by hash would make every start compute the hashes of the whole history. */
  find(chainId: number, hash: Hex): MinedTransaction | null {
    for (const { live, past } of this.#accounts.values())
      for (const list of [live, past])
        for (const transaction of list)
          if (transaction.chain.id === chainId && transaction.hash === hash) return transaction;
    return null;
  }

  /** All transactions of an account that are stored, oldest first. */
  *of(account: Hex): Generator<MinedTransaction> {
    const { live, past } = this.#accounts.get(account) ?? { live: [], past: [] };
    yield* past;
    yield* live;
  }

  page(
    wallet: Hex,
    chainIds: ReadonlySet<number>,
    limit: number,
    start: PageStart | null,
  ): Part<Listed<MinedTransaction>> {
    const items: Listed<MinedTransaction>[] = [];
    const { live, past } = this.#accounts.get(wallet) ?? { live: [], past: [] };
    for (const list of [live, past]) {
      for (let at = start === null ? list.length : countBefore(list, start); at > 0; at -= 1) {
        const transaction = list[at - 1];
        if (transaction === undefined || !chainIds.has(transaction.chain.id)) continue;
        if (items.length === limit) return { items, next: items.at(-1)?.place ?? null };
        items.push({ transaction, place: [transaction.blockTime, transaction.order] });
      }
    }
    return { items, next: null };
  }
}

/** The number of transactions in an ordered list that a page may have, by binary search. */
const countBefore = (list: readonly MinedTransaction[], { place, including }: PageStart): number => {
  const [time = 0, order = 0] = place;
  const isBefore = (transaction: MinedTransaction) =>
    transaction.blockTime < Number(time) ||
    (transaction.blockTime === time && transaction.order < Number(order) + (including ? 1 : 0));
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const transaction = list[middle];
    if (transaction !== undefined && isBefore(transaction)) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * The addresses that a transaction involves: its sender, its recipient and the owners of the assets that it touched.
 */
const partiesOf = ({ from, to, effects }: Transaction): ReadonlySet<Hex> =>
  new Set([from, ...(to === null ? [] : [to]), ...effects.flatMap(touched)]);

const touched = (effect: Effect): readonly Hex[] => {
  if (effect.kind === 'transfer') return [effect.from, effect.to];
  return [effect.kind === 'approval' ? effect.owner : effect.trader];
};
