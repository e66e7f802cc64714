import type { DatabaseSync } from 'node:sqlite';
import type { Block, Chain, Effect, Hex, Transaction, Transfer } from '../../types.ts';
import { type Balances, withBalances } from '../blocks/balances.ts';
import { bytesOf, decodeTransaction, encodeTransaction, hexOf } from '../blocks/encoding.ts';
import {
  effectsOf,
  feeOf,
  insideOf,
  mayMoveInside,
  type ParsedBlock,
  type ParsedTransaction,
  partiesOf,
} from '../blocks/parse.ts';
import type { BlockRef } from '../node/answers.ts';
import { Approvals } from './approvals.ts';
import {
  blockId,
  blockOf,
  blocksOf,
  createTables,
  indexOf,
  inTransaction,
  MAX_SLOT,
  numberOf,
  transactionId,
} from './database.ts';
import { type End, type Holding, Ledger, STANDARDS } from './ledger.ts';
import { prepareIndex } from './statements.ts';
import { Untraced } from './untraced.ts';

type Range = {
  /** The first block that is to be indexed. */
  readonly from: number;
  /** The lowest block that is indexed: all blocks from it up to the head are. */
  readonly lowest: BlockRef;
  readonly head: BlockRef;
};

type Options = {
  readonly database: DatabaseSync;
  readonly chains: readonly Chain[];
  /** Whether a contract is known to be an ERC-1155. Default: always false. */
  readonly isMultiToken?: (chainId: number, contract: Hex) => boolean;
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
  readonly #isMultiToken;
  readonly #ledger: Ledger;
  /** The blocks that are still to be traced. */
  readonly untraced: Untraced;
  /** Who was ever approved by whom. */
  readonly approvals: Approvals;
  readonly #statements: ReturnType<typeof prepareIndex>;
  #isOpen = false;
  /** What was added by transactions that were kept, by chain. */
  readonly #counts = new Map<number, { blocks: number; transactions: number }>();
  /** The blocks that this transaction adds. */
  readonly #adding: ParsedBlock[] = [];
  /** Rows of `by_address` that are written at the end of the transaction, with the hex digits of their addresses. */
  readonly #addresses: { readonly address: Hex; readonly id: bigint }[] = [];

  constructor({ database, chains, isMultiToken, onRebuild }: Options) {
    this.#database = database;
    this.#isMultiToken = isMultiToken ?? (() => false);
    const replaced = createTables(database);
    if (replaced !== null) onRebuild?.(replaced);
    this.#chains = inTransaction(
      database,
      () => new Map(chains.map((chain) => [chain.id, { chain, slot: claimSlot(database, chain.id) }])),
    );
    this.#ledger = new Ledger(database);
    this.untraced = new Untraced(database, (chainId) => this.slot(chainId));
    this.approvals = new Approvals(database);
    this.#statements = prepareIndex(database);
  }

  /** Null for a chain of which no block is indexed. */
  range(chainId: number): Range | null {
    const { slot } = this.#chain(chainId);
    const { start, lowest, highest } = this.#statements.range.get(slot, ...blocksOf(slot)) ?? {};
    if (typeof lowest !== 'bigint' || typeof highest !== 'bigint') return null;
    return { from: Number(start), lowest: this.#reference(lowest), head: this.#reference(highest) };
  }

  /** The hash of an indexed block; null for another one. */
  hashAt(chainId: number, number: number): Hex | null {
    const { hash } = this.#statements.block.get(blockId(this.slot(chainId), number)) ?? {};
    return hash instanceof Uint8Array ? hexOf(hash) : null;
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
      this.#addresses.length = 0;
    }
  };

  /** The newest block of a chain that is not announced; null before the chain is first followed. */
  silentUntil(chainId: number): number | null {
    const silent = this.#statements.silentUntil.get(this.slot(chainId))?.silent_until ?? null;
    return silent === null ? null : Number(silent);
  }

  setSilentUntil(chainId: number, number: number): void {
    this.#statements.setSilentUntil.run(number, this.slot(chainId));
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
      if (head === undefined) this.#statements.setStart.run(start, slot);
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
    const slot = this.slot(chainId);
    const id = blockId(slot, number);
    if (this.hashAt(chainId, number) === null) return null;
    const transactions = this.#statements.bodies
      .all(transactionId(id, 0), transactionId(id + 1n, 0))
      .flatMap(({ id: key, body }) =>
        typeof key === 'bigint' && body instanceof Uint8Array ? [decodeTransaction(body, indexOf(key))] : [],
      );
    return { ...this.#reference(id), chainId, transactions };
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
        this.#statements.setTransaction.run(encodeTransaction(transaction), key);
        const untraced = untracedOf(transaction, isJudged);
        const without = this.#effectsOf(chainId, untraced);
        const parties = partiesOf(untraced, without);
        for (const address of partiesOf(transaction, effects[at] ?? []))
          if (!parties.has(address)) this.#addresses.push({ address, id: key });
        before.push(transactionOf(chain, block, untraced, without));
        after.push(transactionOf(chain, block, transaction, newsOf(transaction, told[at] ?? [], isJudged)));
      }
      if (after.length > 0) listener?.({ chain, ...block, transactions: after }, before);
    });
  }

  /** Takes the blocks above `to` back, the newest first, and tells the listener the number of the first of them. */
  unwind(chainId: number, to: number, listener: (chainId: number, fromNumber: number) => void): void {
    this.transaction(() => {
      const range = this.range(chainId);
      if (range === null || range.head.number <= to) return;
      const slot = this.slot(chainId);
      const from = Math.max(to + 1, range.lowest.number);
      for (let number = range.head.number; number >= from; number -= 1) this.#remove(slot, number);
      listener(chainId, from);
    });
  }

  /** An indexed transaction with its effects; undefined for an unknown id. */
  read(chain: Chain, id: bigint): { readonly transaction: Transaction; readonly bytes: number } | undefined {
    const { body, hash, time } = this.#statements.transaction.get(id) ?? {};
    if (!(body instanceof Uint8Array) || !(hash instanceof Uint8Array)) return undefined;
    const parsed = decodeTransaction(body, indexOf(id));
    const block = { number: numberOf(blockOf(id)), hash: hexOf(hash), time: Number(time) };
    const effects = this.#effectsOf(chain.id, parsed);
    return { transaction: transactionOf(chain, block, parsed, effects), bytes: body.length };
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

  #reference(id: bigint): BlockRef {
    const { hash, parent, time } = this.#statements.block.get(id) ?? {};
    if (!(hash instanceof Uint8Array) || !(parent instanceof Uint8Array))
      throw new Error(`expected the block ${numberOf(id)}, got none`);
    return { number: numberOf(id), hash: hexOf(hash), parentHash: hexOf(parent), time: Number(time) };
  }

  #effectsOf(chainId: number, transaction: ParsedTransaction): readonly Effect[] {
    return effectsOf(transaction, (contract) => this.#isMultiToken(chainId, contract));
  }

  /** Stores a block. Returns the effects of each of its transactions. */
  #add(slot: number, block: ParsedBlock, end: End, isAnnounced: boolean): readonly (readonly Effect[])[] {
    const { chainId, number, hash, parentHash, time, transactions } = block;
    const { addBlock, addTransaction } = this.#statements;
    const id = blockId(slot, number);
    this.#adding.push(block);
    addBlock.run(id, bytesOf(hash), bytesOf(parentHash), time);
    const effects = transactions.map((transaction) => this.#effectsOf(chainId, transaction));
    for (const [at, transaction] of transactions.entries()) {
      const key = transactionId(id, transaction.index);
      addTransaction.run(key, encodeTransaction(transaction));
      for (const address of partiesOf(transaction, effects[at] ?? []))
        this.#addresses.push({ address, id: key });
    }
    this.#ledger.add(slot, end, effects.flat(), time);
    this.approvals.add(slot, effects.flat());
    if (transactions.some(mayMoveInside)) this.untraced.add(id, isAnnounced);
    return effects;
  }

  /** Writes what waits for it, in the order of the tables: neighbours are in one page of the file. */
  #flush(): void {
    this.#addresses.sort((one, other) =>
      one.address < other.address ? -1 : one.address > other.address ? 1 : 0,
    );
    for (const { address, id } of this.#addresses) this.#statements.addAddress.run(bytesOf(address), id);
    this.#addresses.length = 0;
    this.#ledger.flush();
  }

  /** Removes the head of a chain with all that is derived from it. */
  #remove(slot: number, number: number): void {
    const { bodies, dropAddress, dropTransactions, dropBlock } = this.#statements;
    this.#flush();
    const id = blockId(slot, number);
    const within = [transactionId(id, 0), transactionId(id + 1n, 0)] as const;
    const effects: Effect[] = [];
    for (const { id: key, body } of bodies.all(...within)) {
      if (typeof key !== 'bigint' || !(body instanceof Uint8Array)) continue;
      const transaction = decodeTransaction(body, indexOf(key));
      const own = effectsOf(transaction);
      for (const party of partiesOf(transaction, own)) dropAddress.run(bytesOf(party), key);
      for (const effect of own) effects.push(effect);
    }
    dropTransactions.run(...within);
    dropBlock.run(id);
    this.untraced.delete(id);
    this.#ledger.revert(slot, effects, (holding) => this.#lastReceipt(slot, holding));
  }

  /** When an NFT was last received, in milliseconds since 1970; null when it never was. The holder's list is read for it. */
  #lastReceipt(slot: number, { account, standard, token, tokenId }: Holding): number | null {
    const all = [transactionId(blockId(slot, 0), 0), transactionId(blockId(slot + 1, 0), 0)] as const;
    for (const { id, body, time } of this.#statements.history.iterate(bytesOf(account), ...all)) {
      if (typeof id !== 'bigint' || !(body instanceof Uint8Array)) continue;
      const isReceived = effectsOf(decodeTransaction(body, indexOf(id))).some(
        (effect) =>
          effect.kind === 'transfer' &&
          effect.asset !== 'native' &&
          STANDARDS[effect.asset] === standard &&
          effect.to === account &&
          effect.token === token &&
          effect.tokenId === tokenId &&
          effect.value > 0n,
      );
      if (isReceived) return Number(time);
    }
    return null;
  }

  /** What the index itself knows that an account has; null for the native asset, and where it lacks older blocks. */
  #sum(slot: number, account: Hex, { asset, token, tokenId }: Transfer): bigint | null {
    if (asset === 'native' || token === null || !this.#statements.genesis.get(blockId(slot, 0))) return null;
    return this.#ledger.amount(slot, { account, standard: STANDARDS[asset], token, tokenId: tokenId ?? 0n });
  }
}

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
