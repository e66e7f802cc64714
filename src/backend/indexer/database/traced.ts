import type { Block, Effect, Hex, Transaction, Transfer } from '../../types.ts';
import { type Balances, withBalances } from '../blocks/balances.ts';
import {
  effectsOf,
  insideOf,
  type ParsedBlock,
  type ParsedTransaction,
  partiesOf,
  transactionOf,
} from '../blocks/parse.ts';
import { blockId, transactionId } from './database.ts';
import type { IndexedChain, Revisions } from './revisions.ts';
import type { StoredBlocks } from './stored-blocks.ts';
import type { Untraced } from './untraced.ts';

type Options = {
  readonly blocks: StoredBlocks;
  readonly untraced: Untraced;
  readonly revisions: Revisions;
  readonly chainOf: (chainId: number) => IndexedChain;
  /** Runs a change of announced blocks, or of history, which is kept later. */
  readonly transaction: (work: () => void, isHistory: boolean) => void;
  /** What the index itself knows that an account has. */
  readonly sum: (slot: number, account: Hex, moved: Transfer) => bigint | null;
};

/** Hears of the transactions of an announced block that have other effects now, and of the same as they were. */
export type LateListener = (block: Block, before: readonly Transaction[]) => void;

/** What calls within transactions moved, which becomes known after their blocks were added. */
export class Traced {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Adds what calls within the transactions of an indexed block moved, and announces it in the same transaction: to the listener
   * go the transactions with more effects than before, of which only the new ones have balances, and the same transactions as
   * they were. `judged` are the positions of those of which it was not known whether they failed. It has no effect if the block
   * is no longer in the index.
   */
  add(
    { chainId, number, hash, time, transactions: traced }: ParsedBlock,
    listener: LateListener | null,
    known: Balances,
    judged: ReadonlySet<number> = new Set(),
  ): void {
    const { chainOf, transaction: inTransaction, blocks, untraced, revisions, sum } = this.#options;
    inTransaction(() => {
      const indexed = chainOf(chainId);
      const { chain, slot } = indexed;
      const id = blockId(slot, number);
      if (blocks.hashOf(id) !== hash) return;
      untraced.delete(id);
      const readings = revisions.readings(indexed);
      const read = (transaction: ParsedTransaction) =>
        effectsOf(transaction, readings(transactionId(id, transaction.index), transaction));
      const effects = traced.map(read);
      const told = withBalances(effects, known, (account, transfer) => sum(slot, account, transfer));
      const after: Transaction[] = [];
      const before: Transaction[] = [];
      const block = { number, hash, time };
      for (const [at, transaction] of traced.entries()) {
        const isJudged = judged.has(transaction.index);
        if (transaction.internal.length === 0 && !isJudged) continue;
        const key = transactionId(id, transaction.index);
        blocks.replaceTransaction(key, transaction);
        const was = untracedOf(transaction, isJudged);
        const without = read(was);
        const parties = partiesOf(was, without);
        for (const address of partiesOf(transaction, effects[at] ?? []))
          if (!parties.has(address)) blocks.addParty(address, key);
        before.push(transactionOf(chain, block, was, without));
        after.push(transactionOf(chain, block, transaction, newsOf(transaction, told[at] ?? [], isJudged)));
      }
      if (after.length > 0) listener?.({ chain, ...block, transactions: after }, before);
    }, listener === null);
  }
}

/** A traced transaction as it was before. `isJudged` says that only the trace says whether it failed. */
const untracedOf = (transaction: ParsedTransaction, isJudged: boolean): ParsedTransaction => ({
  ...transaction,
  ...(isJudged && { success: null, created: null }),
  internal: [],
});

/** The effects of a traced transaction, with balances only for those that it did not have before. */
const newsOf = (
  transaction: ParsedTransaction,
  effects: readonly Effect[],
  isJudged: boolean,
): readonly Effect[] => {
  if (isJudged) return effects;
  const { first, end } = insideOf(transaction);
  return effects.map((effect, at) =>
    effect.kind === 'transfer' && (at < first || at >= end) ? { ...effect, balances: null } : effect,
  );
};
