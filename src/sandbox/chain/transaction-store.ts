import type { Effect, Hex, Transaction } from '../types.ts';
import type { MinedTransaction } from './transaction.ts';

/** The position of a walk through a wallet's transactions: the last transaction of the page before. */
export type Position = { readonly time: number; readonly order: number };

export type Page = {
  /** Newest first. */
  readonly transactions: readonly MinedTransaction[];
  /** The position of the next page; null on the last page. */
  readonly next: Position | null;
};

/**
 * The live transactions that are stored of one wallet, beside its whole history. The oldest are deleted for new ones.
 */
const MAX_LIVE = 1_500;

/** Transactions are deleted in batches of this size, which keeps the cost of one more transaction small. */
const SLACK = 250;

/**
 * The transactions of every demo wallet, in order. The whole history is stored. Of the live transactions only each
 * wallet's newest are, so the memory is bounded by the number of wallets, however long the sandbox runs.
 */
export class TransactionStore {
  readonly #past = new Map<Hex, MinedTransaction[]>();
  readonly #live = new Map<Hex, MinedTransaction[]>();

  constructor(wallets: readonly Hex[]) {
    for (const wallet of wallets) {
      this.#past.set(wallet, []);
      this.#live.set(wallet, []);
    }
  }

  addPast(transaction: MinedTransaction): void {
    for (const party of partiesOf(transaction)) this.#past.get(party)?.push(transaction);
  }

  addLive(transaction: MinedTransaction): void {
    for (const party of partiesOf(transaction)) {
      const list = this.#live.get(party);
      if (list === undefined) continue;
      list.push(transaction);
      if (list.length > MAX_LIVE + SLACK) list.splice(0, SLACK);
    }
  }

  /** The newest `limit` transactions of a wallet on the given chains that are older than the position. */
  page(wallet: Hex, chainIds: ReadonlySet<number>, limit: number, after: Position | null): Page {
    const transactions: MinedTransaction[] = [];
    for (const list of [this.#live.get(wallet) ?? [], this.#past.get(wallet) ?? []]) {
      for (let at = after === null ? list.length : countBefore(list, after); at > 0; at -= 1) {
        const transaction = list[at - 1];
        if (transaction === undefined || !chainIds.has(transaction.chain.id)) continue;
        const last = transactions.at(-1);
        if (transactions.length === limit && last !== undefined)
          return { transactions, next: { time: last.blockTime, order: last.order } };
        transactions.push(transaction);
      }
    }
    return { transactions, next: null };
  }
}

const isBefore = ({ blockTime, order }: MinedTransaction, position: Position) =>
  blockTime < position.time || (blockTime === position.time && order < position.order);

/** The number of transactions in an ordered list that precede the position, by binary search. */
const countBefore = (list: readonly MinedTransaction[], position: Position): number => {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const transaction = list[middle];
    if (transaction !== undefined && isBefore(transaction, position)) low = middle + 1;
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
