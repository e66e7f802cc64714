import type { DatabaseSync } from 'node:sqlite';
import type { Block, Chain, Effect, Hex, Transaction, Transfer } from '../../types.ts';
import { type Balances, withBalances } from '../blocks/balances.ts';
import {
  effectsOf,
  feeOf,
  insideOf,
  mayMoveInside,
  type ParsedBlock,
  type ParsedTransaction,
  partiesOf,
} from '../blocks/parse.ts';
import { byStandard, type Readings, type ReadingsOf } from '../blocks/readings.ts';
import { Approvals } from './approvals.ts';
import { blockId, createTables, inTransaction, MAX_SLOT, transactionId } from './database.ts';
import { type End, type Holding, Ledger, STANDARDS } from './ledger.ts';
import { receiptOf, reread } from './reread.ts';
import { type Range, StoredBlocks } from './stored-blocks.ts';
import { Unsettled } from './unsettled.ts';
import { Untraced } from './untraced.ts';

type Options = {
  readonly database: DatabaseSync;
  readonly chains: readonly Chain[];
  /** How the logs of a contract are read. Default: as the standards have them. */
  readonly readings?: (chainId: number, contract: Hex) => Readings;
  /** Is told that the tables were in another format, and are made anew. */
  readonly onRebuild?: (format: number) => void;
};

/**
 * The index of chains: their blocks without a gap, the transactions of each address, and what the transfers of tokens sum
 * up to. Each change is one transaction of the database, or a part of the caller's. When it fails, as for a full disk,
 * nothing of it is kept.
 */
export class Index {
  readonly #database: DatabaseSync;
  readonly #chains: ReadonlyMap<number, IndexedChain>;
  readonly #readings: (chainId: number, contract: Hex) => Readings;
  readonly #ledger: Ledger;
  /** The blocks that are still to be traced. */
  readonly untraced: Untraced;
  /** Who was ever approved by whom. */
  readonly approvals: Approvals;
  readonly #unsettled: Unsettled;
  readonly #blocks: StoredBlocks;
  #isOpen = false;
  /** What was added by transactions that were kept, by chain. */
  readonly #counts = new Map<number, { blocks: number; transactions: number }>();
  /** The blocks that this transaction adds. */
  readonly #adding: ParsedBlock[] = [];

  constructor({ database, chains, readings, onRebuild }: Options) {
    this.#database = database;
    this.#readings = readings ?? ((_chainId, contract) => byStandard(contract));
    const replaced = createTables(database);
    if (replaced !== null) onRebuild?.(replaced);
    this.#chains = inTransaction(
      database,
      () => new Map(chains.map((chain) => [chain.id, { chain, slot: claimSlot(database, chain.id) }])),
    );
    this.#ledger = new Ledger(database);
    this.untraced = new Untraced(database, (chainId) => this.slot(chainId));
    this.approvals = new Approvals(database);
    this.#unsettled = new Unsettled(database);
    this.#blocks = new StoredBlocks(database);
  }

  /** Null for a chain of which no block is indexed. */
  range(chainId: number): Range | null {
    return this.#blocks.range(this.slot(chainId));
  }

  /** The hash of an indexed block; null for another one. */
  hashAt(chainId: number, number: number): Hex | null {
    return this.#blocks.hashOf(blockId(this.slot(chainId), number));
  }

  /** The number that stands for a chain in the tables. */
  slot(chainId: number): number {
    return this.#chain(chainId).slot;
  }

  /** Runs `work` in a transaction of which the changes within it are parts. They are written sooner than one by one. */
  readonly transaction = <Result>(work: () => Result): Result => {
    if (this.#isOpen) return work();
    this.#isOpen = true;
    try {
      const result = inTransaction(this.#database, () => {
        const done = work();
        this.#flush();
        return done;
      });
      this.#count();
      return result;
    } catch (problem) {
      this.untraced.recount();
      throw problem;
    } finally {
      this.#isOpen = false;
      this.#adding.length = 0;
      this.#ledger.clear();
      this.#blocks.clear();
    }
  };

  /** The newest block of a chain that is not announced; null before the chain is first followed. */
  silentUntil(chainId: number): number | null {
    return this.#blocks.silentUntil(this.slot(chainId));
  }

  setSilentUntil(chainId: number, number: number): void {
    this.#blocks.setSilentUntil(this.slot(chainId), number);
  }

  /**
   * Adds the next block above the head, or the first one of a chain, and announces it to the listener in the same transaction. A
   * block without a listener is history. `start` is the first block that is to be indexed, below a chain's first one. Default:
   * the block itself.
   * @throws when the block does not follow the head.
   */
  append(
    block: ParsedBlock,
    listener: ((block: Block) => void) | null,
    known: Balances,
    start: number = block.number,
  ): void {
    this.transaction(() => {
      const { chain, slot } = this.#chain(block.chainId);
      const head = this.range(chain.id)?.head;
      if (head === undefined) this.#blocks.setStart(slot, start);
      else if (block.number !== head.number + 1 || block.parentHash !== head.hash)
        throw new Error(
          `expected block ${head.number + 1} of chain ${chain.id} on ${head.hash}, got ${block.number} on ${block.parentHash}`,
        );
      const effects = this.#add(slot, block, 'above', listener !== null);
      if (listener === null) return;
      const told = withBalances(effects, known, (account, transfer) => this.#sum(slot, account, transfer));
      const transactions = block.transactions.map((transaction, at) =>
        transactionOf(chain, block, transaction, told[at] ?? []),
      );
      const { number, hash, time } = block;
      listener({ chain, number, hash, time, transactions });
    });
  }

  /**
   * Adds blocks below the lowest, the newest first.
   * @throws when they do not lead to it.
   */
  prepend(blocks: readonly ParsedBlock[]): void {
    this.transaction(() => {
      for (const block of blocks) {
        const lowest = this.range(block.chainId)?.lowest;
        if (lowest?.number !== block.number + 1 || lowest.parentHash !== block.hash)
          throw new Error(
            `expected block ${lowest?.parentHash} below block ${lowest?.number} of chain ${block.chainId}, got ${block.number}, ${block.hash}`,
          );
        this.#add(this.slot(block.chainId), block, 'below', false);
      }
    });
  }

  /** An indexed block; null when no block of this number is indexed. */
  block(chainId: number, number: number): ParsedBlock | null {
    const id = blockId(this.slot(chainId), number);
    if (this.#blocks.hashOf(id) === null) return null;
    const transactions = this.#blocks.transactions(id).map(({ transaction }) => transaction);
    return { ...this.#blocks.reference(id), chainId, transactions };
  }

  /**
   * Adds what calls within the transactions of an indexed block moved, and announces it in the same transaction: to the listener
   * go the transactions with more effects than before, of which only the new ones have balances, and the same transactions as
   * they were. `judged` are the positions of those of which it was not known whether they failed. It has no effect if the block
   * is no longer in the index.
   */
  addTraces(
    { chainId, number, hash, time, transactions: traced }: ParsedBlock,
    listener: ((block: Block, before: readonly Transaction[]) => void) | null,
    known: Balances,
    judged: ReadonlySet<number> = new Set(),
  ): void {
    this.transaction(() => {
      const { chain, slot } = this.#chain(chainId);
      if (this.hashAt(chainId, number) !== hash) return;
      const id = blockId(slot, number);
      this.untraced.delete(id);
      const effects = traced.map((transaction) => this.#effectsOf(chainId, transaction));
      const told = withBalances(effects, known, (account, transfer) => this.#sum(slot, account, transfer));
      const after: Transaction[] = [];
      const before: Transaction[] = [];
      const block = { number, hash, time };
      for (const [at, transaction] of traced.entries()) {
        const isJudged = judged.has(transaction.index);
        if (transaction.internal.length === 0 && !isJudged) continue;
        const key = transactionId(id, transaction.index);
        this.#blocks.replaceTransaction(key, transaction);
        const untraced = untracedOf(transaction, isJudged);
        const without = this.#effectsOf(chainId, untraced);
        const parties = partiesOf(untraced, without);
        for (const address of partiesOf(transaction, effects[at] ?? []))
          if (!parties.has(address)) this.#blocks.addParty(address, key);
        before.push(transactionOf(chain, block, untraced, without));
        after.push(transactionOf(chain, block, transaction, newsOf(transaction, told[at] ?? [], isJudged)));
      }
      if (after.length > 0) listener?.({ chain, ...block, transactions: after }, before);
    });
  }

  /**
   * Changes how the logs of a contract are read, within the transaction that stores it: the transactions of which that was not
   * settled are read again. The listener hears of those in announced blocks, which are delivered in part already.
   */
  revise(
    chainId: number,
    contract: Hex,
    { before, after, isSettled }: Revision,
    listener: (block: Block, before: readonly Transaction[]) => void,
  ): void {
    this.transaction(() => {
      const { chain, slot } = this.#chain(chainId);
      const rows = this.#unsettled.of(slot, contract);
      const announced = new Set(rows.filter(({ isAnnounced }) => isAnnounced).map(({ id }) => id));
      const readBy =
        (readings: Readings): ReadingsOf =>
        (each) =>
          each === contract ? readings : this.#readings(chainId, each);
      const changed =
        before.coin === after.coin && before.nft === after.nft
          ? []
          : reread({
              ...{ blocks: this.#blocks, ledger: this.#ledger, slot, contract },
              ...{ ids: rows.map(({ id }) => id), before: readBy(before), after: readBy(after) },
            });
      this.approvals.add(
        slot,
        changed.flatMap(({ after: effects }) => effects),
      );
      if (isSettled) this.#unsettled.settle(slot, contract);
      else this.#unsettled.told(slot, contract);
      const told = changed.filter(({ id }) => announced.has(id)).toReversed();
      for (const each of Map.groupBy(told, ({ block }) => block.number).values()) {
        const [first] = each;
        if (first === undefined) continue;
        const as = (which: 'before' | 'after') =>
          each.map((one) => transactionOf(chain, one.block, one.transaction, one[which]));
        listener({ chain, ...first.block, transactions: as('after') }, as('before'));
      }
    });
  }

  /** Takes the blocks above `to` back, the newest first, and tells the listener the number of the first of them. */
  unwind(chainId: number, to: number, listener: (chainId: number, fromNumber: number) => void): void {
    this.transaction(() => {
      const range = this.range(chainId);
      if (range === null || range.head.number <= to) return;
      const indexed = this.#chain(chainId);
      const from = Math.max(to + 1, range.lowest.number);
      for (let number = range.head.number; number >= from; number -= 1) this.#remove(indexed, number);
      listener(chainId, from);
    });
  }

  /** An indexed transaction with its effects; undefined for an unknown id. */
  read(chain: Chain, id: bigint): { readonly transaction: Transaction; readonly bytes: number } | undefined {
    const stored = this.#blocks.transaction(id);
    if (stored === undefined) return undefined;
    const { transaction, block, bytes } = stored;
    const effects = this.#effectsOf(chain.id, transaction);
    return { transaction: transactionOf(chain, block, transaction, effects), bytes };
  }

  /** What the transfers in the indexed blocks sum up to. */
  sum(chainId: number, holding: Holding): bigint {
    return this.#ledger.amount(this.slot(chainId), holding);
  }

  /** The blocks that were added since the start, and their transactions: also those below the lowest, and after a reorg. */
  added(chainId: number): { readonly blocks: number; readonly transactions: number } {
    return this.#counts.get(chainId) ?? NOTHING_ADDED;
  }

  #count(): void {
    for (const { chainId, transactions } of this.#adding) {
      const before = this.added(chainId);
      this.#counts.set(chainId, {
        blocks: before.blocks + 1,
        transactions: before.transactions + transactions.length,
      });
    }
  }

  #chain(chainId: number): IndexedChain {
    const chain = this.#chains.get(chainId);
    if (chain === undefined) throw new Error(`expected the id of an indexed chain, got ${chainId}`);
    return chain;
  }

  #readingsOf(chainId: number): ReadingsOf {
    return (contract) => this.#readings(chainId, contract);
  }

  #effectsOf(chainId: number, transaction: ParsedTransaction): readonly Effect[] {
    return effectsOf(transaction, this.#readingsOf(chainId));
  }

  /** Stores a block. Returns the effects of each of its transactions. */
  #add(slot: number, block: ParsedBlock, end: End, isAnnounced: boolean): readonly (readonly Effect[])[] {
    const { chainId, number, time, transactions } = block;
    const id = blockId(slot, number);
    this.#adding.push(block);
    this.#blocks.addBlock(id, block);
    const readingsOf = this.#readingsOf(chainId);
    const effects = transactions.map((transaction) =>
      effectsOf(transaction, readingsOf, (contract) =>
        this.#unsettled.add(contract, transactionId(id, transaction.index), isAnnounced),
      ),
    );
    for (const [at, transaction] of transactions.entries()) {
      const key = transactionId(id, transaction.index);
      this.#blocks.addTransaction(key, transaction, partiesOf(transaction, effects[at] ?? []));
    }
    this.#ledger.add(slot, end, effects.flat(), time);
    this.approvals.add(slot, effects.flat());
    if (transactions.some(mayMoveInside)) this.untraced.add(id, isAnnounced);
    return effects;
  }

  #flush(): void {
    this.#blocks.flush();
    this.#ledger.flush();
  }

  /** Removes the head of a chain with all that is derived from it. */
  #remove({ slot, chain }: IndexedChain, number: number): void {
    this.#flush();
    const id = blockId(slot, number);
    const readingsOf = this.#readingsOf(chain.id);
    const effects: Effect[] = [];
    for (const { id: key, transaction } of this.#blocks.transactions(id)) {
      const own = effectsOf(transaction, readingsOf, (contract) => this.#unsettled.delete(contract, key));
      for (const party of partiesOf(transaction, own)) this.#blocks.dropParty(party, key);
      for (const effect of own) effects.push(effect);
    }
    this.#blocks.drop(id);
    this.untraced.delete(id);
    // The first receipt of an ERC-20 is in an older block, as long as one is left.
    this.#ledger.revert(slot, effects, (holding, known) =>
      holding.standard === STANDARDS.erc20 ? known : receiptOf(this.#blocks, slot, holding, readingsOf, null),
    );
  }

  /** What the index itself knows that an account has; null for the native asset, and where it lacks older blocks. */
  #sum(slot: number, account: Hex, { asset, token, tokenId }: Transfer): bigint | null {
    if (asset === 'native' || token === null || this.#blocks.hashOf(blockId(slot, 0)) === null) return null;
    return this.#ledger.amount(slot, { account, standard: STANDARDS[asset], token, tokenId: tokenId ?? 0n });
  }
}

/** How the logs of a contract were read, and how they are read now, and whether that is final. */
export type Revision = { readonly before: Readings; readonly after: Readings; readonly isSettled: boolean };

const NOTHING_ADDED = { blocks: 0, transactions: 0 };

type IndexedChain = { readonly chain: Chain; readonly slot: number };

/** The slot of a chain, which gets the next free one when the index does not know it. */
const claimSlot = (database: DatabaseSync, chainId: number): number => {
  database
    .prepare('INSERT OR IGNORE INTO chains SELECT ifnull(max(slot) + 1, 0), ?, 0, NULL FROM chains')
    .run(chainId);
  const slot = Number(database.prepare('SELECT slot FROM chains WHERE id = ?').get(chainId)?.slot);
  if (slot > MAX_SLOT) throw new Error(`the index has room for ${MAX_SLOT + 1} chains, got one more`);
  return slot;
};

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

export const transactionOf = (
  chain: Chain,
  block: { readonly number: number; readonly hash: Hex; readonly time: number },
  transaction: ParsedTransaction,
  effects: readonly Effect[],
): Transaction => ({
  ...transaction,
  chain,
  blockHash: block.hash,
  blockNumber: block.number,
  blockTime: block.time,
  fee: feeOf(transaction),
  effects,
});
