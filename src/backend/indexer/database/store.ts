import type { Block, Chain, Effect, Hex, MinedTransaction, Transaction, Transfer } from '../../types.ts';
import { type Balances, withBalances } from '../blocks/balances.ts';
import {
  effectsOf,
  mayMoveInside,
  minedOf,
  type ParsedBlock,
  partiesOf,
  transactionOf,
} from '../blocks/parse.ts';
import { byStandard, type Readings } from '../blocks/readings.ts';
import { Accounts } from './accounts.ts';
import { Approvals } from './approvals.ts';
import {
  blockId,
  claimSlot,
  createTables,
  type IndexDatabase,
  inTransaction,
  transactionId,
} from './database.ts';
import { type End, type Holding, Ledger, STANDARDS } from './ledger.ts';
import { receiptOf } from './receipt.ts';
import { Rereading } from './rereading.ts';
import { type IndexedChain, Revisions } from './revisions.ts';
import { type Range, StoredBlocks } from './stored-blocks.ts';
import { Traced } from './traced.ts';
import { Unsettled } from './unsettled.ts';
import { Untraced } from './untraced.ts';
import { Writes } from './writes.ts';

type Options = {
  readonly database: IndexDatabase;
  readonly chains: readonly Chain[];
  /** How the logs of a contract are read. Default: as the standards have them. */
  readonly readings?: (chainId: number, contract: Hex) => Readings;
  /** The effects that are read again in one turn, about. Default: 2,000. */
  readonly rereads?: number;
  /** Is told that the tables were in another format, and are made anew. */
  readonly onRebuild?: (format: number) => void;
};

/** A transaction that was read, and the bytes that are stored of it. */
export type Read<Found> = { readonly transaction: Found; readonly bytes: number };

/**
 * The index of chains: their blocks without a gap, the transactions of each address, and what the transfers of tokens sum
 * up to. Each change is one transaction of the database, or a part of the caller's. When it fails, as for a full disk,
 * nothing of it is kept.
 */
export class Index {
  readonly #chains: ReadonlyMap<number, IndexedChain>;
  readonly #revisions: Revisions;
  /** What blocks change of accounts, which is written at the end of their transaction. */
  readonly writes: Writes;
  readonly #ledger: Ledger;
  /** The blocks that are still to be traced. */
  readonly untraced: Untraced;
  /** What becomes known of blocks after they were added: what calls moved, and how logs are read. */
  readonly traced: Traced;
  readonly rereading: Rereading;
  /** Who was ever approved by whom. */
  readonly approvals: Approvals;
  readonly #unsettled: Unsettled;
  readonly #blocks: StoredBlocks;
  /** What was added by transactions that were kept, by chain. */
  readonly #counts = new Map<number, { blocks: number; transactions: number }>();
  /** The blocks that this transaction adds. */
  readonly #adding: ParsedBlock[] = [];

  constructor({ database, chains, readings, rereads, onRebuild }: Options) {
    const replaced = createTables(database);
    if (replaced !== null) onRebuild?.(replaced);
    const indexed = (chain: Chain): IndexedChain => ({
      chain,
      slot: claimSlot(database, chain.id),
      readingsOf: (contract) => readings?.(chain.id, contract) ?? byStandard(contract),
    });
    this.#chains = inTransaction(database, () => new Map(chains.map((chain) => [chain.id, indexed(chain)])));
    const accounts = new Accounts(database);
    this.#ledger = new Ledger(database, accounts);
    this.untraced = new Untraced(database, (chainId) => this.slot(chainId));
    this.approvals = new Approvals(database);
    this.#unsettled = new Unsettled(database);
    this.#revisions = new Revisions(database);
    this.#blocks = new StoredBlocks(database, accounts);
    this.writes = new Writes({ database, accounts, blocks: this.#blocks, ledger: this.#ledger });
    database.onRollback(() => this.untraced.recount());
    const shared = {
      ...{ blocks: this.#blocks, revisions: this.#revisions, flush: () => this.writes.flush() },
      chainOf: (chainId: number) => this.#chain(chainId),
    };
    this.traced = new Traced({
      ...{ ...shared, untraced: this.untraced },
      transaction: (work, isHistory) =>
        isHistory && database.isTransaction ? this.#lasting(work) : this.transaction(work),
      sum: (slot, account, moved) => this.#sum(slot, account, moved),
    });
    this.rereading = new Rereading({
      ...{
        ...shared,
        transaction: this.transaction,
        ledger: this.#ledger,
        unsettled: this.#unsettled,
        approvals: this.approvals,
      },
      most: rereads,
    });
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
  readonly transaction = <Result>(work: () => Result): Result =>
    this.#counted(() => this.writes.transaction(work));

  /** Runs `work` in the transaction that `writes.keep` ends. */
  readonly #lasting = (work: () => void): void => this.#counted(() => this.writes.lasting(work));

  /** Counts the blocks that a transaction of its own has added. */
  #counted<Result>(run: () => Result): Result {
    if (this.writes.isOpen) return run();
    try {
      const result = run();
      this.#count();
      return result;
    } finally {
      this.#adding.length = 0;
    }
  }

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
      const indexed = this.#chain(block.chainId);
      const { chain, slot } = indexed;
      const head = this.range(chain.id)?.head;
      if (head === undefined) this.#blocks.setStart(slot, start, start === block.number);
      else if (block.number !== head.number + 1 || block.parentHash !== head.hash)
        throw new Error(
          `expected block ${head.number + 1} of chain ${chain.id} on ${head.hash}, got ${block.number} on ${block.parentHash}`,
        );
      const effects = this.#add(indexed, block, 'above', listener !== null);
      this.#blocks.writeTransactions();
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
   * Adds blocks below the lowest, the newest first. They are kept by `writes.keep`, or with the next transaction. A failure
   * takes back all that are not.
   * @throws when they do not lead to it.
   */
  prepend(blocks: readonly ParsedBlock[]): void {
    this.#lasting(() => {
      for (const block of blocks) {
        const lowest = this.range(block.chainId)?.lowest;
        if (lowest?.number !== block.number + 1 || lowest.parentHash !== block.hash)
          throw new Error(
            `expected block ${lowest?.parentHash} below block ${lowest?.number} of chain ${block.chainId}, got ${block.number}, ${block.hash}`,
          );
        this.#add(this.#chain(block.chainId), block, 'below', false);
      }
      this.#blocks.writeTransactions();
    });
  }

  /** Whether the holders of a chain's tokens are listed: at once, or after `list` where older blocks came later. */
  isListed(chainId: number): boolean {
    return this.#ledger.isListed(this.slot(chainId));
  }

  /** Lists about as many further holdings as are wanted. Returns whether that were all. They are kept as blocks that are prepended. */
  list(chainId: number, most = 5_000): boolean {
    if (!this.isListed(chainId)) {
      this.#lasting(() => this.#ledger.list(this.slot(chainId), most));
      if (this.isListed(chainId)) this.writes.keep();
      else this.writes.keepSome();
    }
    return this.isListed(chainId);
  }

  /** An indexed block; null when no block of this number is indexed. */
  block(chainId: number, number: number): ParsedBlock | null {
    const id = blockId(this.slot(chainId), number);
    if (this.#blocks.hashOf(id) === null) return null;
    const transactions = this.#blocks.transactions(id).map(({ transaction }) => transaction);
    return { ...this.#blocks.reference(id), chainId, transactions };
  }

  /** Takes the blocks above `to` back, the newest first, and tells the listener the number of the first of them. */
  unwind(chainId: number, to: number, listener: (chainId: number, fromNumber: number) => void): void {
    this.transaction(() => {
      const range = this.range(chainId);
      if (range === null || range.head.number <= to) return;
      const indexed = this.#chain(chainId);
      const from = Math.max(to + 1, range.lowest.number);
      this.#revisions.replaced(indexed.slot, transactionId(blockId(indexed.slot, from), 0));
      for (let number = range.head.number; number >= from; number -= 1) this.#remove(indexed, number);
      listener(chainId, from);
    });
  }

  /** An indexed transaction; undefined for an unknown id. */
  mined(chain: Chain, id: bigint): Read<MinedTransaction> | undefined {
    const stored = this.#blocks.transaction(id);
    return stored && { transaction: minedOf(chain, stored.block, stored.transaction), bytes: stored.bytes };
  }

  /** As `mined`, with its effects. */
  read(chain: Chain, id: bigint): Read<Transaction> | undefined {
    const stored = this.#blocks.transaction(id);
    if (stored === undefined) return undefined;
    const { transaction, block, bytes } = stored;
    const effects = effectsOf(transaction, this.#revisions.readings(this.#chain(chain.id))(id, transaction));
    return { transaction: transactionOf(chain, block, transaction, effects), bytes };
  }

  /** What the transfers in the indexed blocks sum up to. */
  sum(chainId: number, holding: Holding): bigint {
    this.writes.account(holding.account);
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

  /** Stores a block. Returns the effects of each of its transactions. */
  #add(
    indexed: IndexedChain,
    block: ParsedBlock,
    end: End,
    isAnnounced: boolean,
  ): readonly (readonly Effect[])[] {
    const { number, time, transactions } = block;
    const { slot } = indexed;
    const id = blockId(slot, number);
    this.#adding.push(block);
    this.#blocks.addBlock(id, block);
    const readings = this.#revisions.readings(indexed);
    const effects = transactions.map((transaction) => {
      const key = transactionId(id, transaction.index);
      const found = effectsOf(transaction, readings(key, transaction), (contract) =>
        this.#unsettled.add(contract, key, isAnnounced),
      );
      this.#blocks.addTransaction(key, transaction, partiesOf(transaction, found));
      return found;
    });
    this.#ledger.add(slot, end, effects.flat(), time);
    this.approvals.add(slot, effects.flat());
    if (transactions.some(mayMoveInside)) this.untraced.add(id, isAnnounced);
    return effects;
  }

  /** Removes the head of a chain with all that is derived from it. */
  #remove(indexed: IndexedChain, number: number): void {
    this.writes.flush();
    const { slot } = indexed;
    const id = blockId(slot, number);
    const readings = this.#revisions.readings(indexed);
    const effects: Effect[] = [];
    for (const { id: key, transaction } of this.#blocks.transactions(id)) {
      const own = effectsOf(transaction, readings(key, transaction), (contract) =>
        this.#unsettled.delete(contract, key),
      );
      for (const party of partiesOf(transaction, own)) this.#blocks.dropParty(party, key);
      for (const effect of own) effects.push(effect);
    }
    this.#blocks.drop(id);
    this.untraced.delete(id);
    // The first receipt of an ERC-20 is in an older block, as long as one is left.
    this.#ledger.revert(slot, effects, (holding, known) =>
      holding.standard === STANDARDS.erc20 ? known : receiptOf(this.#blocks, slot, holding, readings, null),
    );
  }

  /** What the index itself knows that an account has; null for the native asset, and where it lacks older blocks. */
  #sum(slot: number, account: Hex, { asset, token, tokenId }: Transfer): bigint | null {
    if (asset === 'native' || token === null || this.#blocks.hashOf(blockId(slot, 0)) === null) return null;
    return this.#ledger.amount(slot, { account, standard: STANDARDS[asset], token, tokenId: tokenId ?? 0n });
  }
}

const NOTHING_ADDED = { blocks: 0, transactions: 0 };
