import type { Effect, Hex, Transaction } from '../types.ts';
import type { MinedTransaction } from './transaction.ts';

/** Where a walk through a wallet's transactions stands: just after, so older than, the transaction of that place. */
export type Position = { readonly time: number; readonly order: number };

export type Page = {
  /** Newest first. */
  readonly transactions: readonly MinedTransaction[];
  /** Where the next page goes on; null when there is none. */
  readonly next: Position | null;
};

/** Live transactions kept of one wallet, beside its whole history: the oldest make room for new ones. */
const LIVE_KEPT = 1_500;

/** Dropping in bulk keeps the cost of one more transaction small. */
const SLACK = 250;

/**
 * Every transaction of every demo wallet, in order. The history stays; of live transactions the newest few thousand of
 * each wallet do, so that memory is bounded by the number of wallets, however long the sandbox runs.
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
      const kept = this.#live.get(party);
      if (kept === undefined) continue;
      kept.push(transaction);
      if (kept.length > LIVE_KEPT + SLACK) kept.splice(0, SLACK);
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

/** How many of an ordered list stand before a position. */
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

/** Everybody whom a transaction concerns: who sent it, whom it calls, and whose assets it touched. */
const partiesOf = ({ from, to, effects }: Transaction): ReadonlySet<Hex> =>
  new Set([from, ...(to === null ? [] : [to]), ...effects.flatMap(touched)]);

const touched = (effect: Effect): readonly Hex[] => {
  if (effect.kind === 'transfer') return [effect.from, effect.to];
  return [effect.kind === 'approval' ? effect.owner : effect.trader];
};
