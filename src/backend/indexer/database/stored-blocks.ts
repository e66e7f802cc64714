import type { DatabaseSync } from 'node:sqlite';
import type { BlockRef } from '../../node/answers.ts';
import type { Hex } from '../../types.ts';
import { bytesOf, decodeTransaction, encodeTransaction, hexOf } from '../blocks/encoding.ts';
import type { ParsedBlock, ParsedTransaction } from '../blocks/parse.ts';
import type { Accounts } from './accounts.ts';
import {
  blockOf,
  blocksOf,
  type IndexDatabase,
  indexOf,
  numberOf,
  transactionId,
  transactionsOf,
} from './database.ts';

export type Range = {
  /** The first block that is to be indexed. */
  readonly from: number;
  /** The lowest block that is indexed: all blocks from it up to the head are. */
  readonly lowest: BlockRef;
  readonly head: BlockRef;
};

/** A transaction as it is stored, with the time of its block in milliseconds since 1970. */
type StoredTransaction = {
  readonly id: bigint;
  readonly transaction: ParsedTransaction;
  readonly time: number;
};

/**
 * The tables of chains, blocks and transactions, and which addresses take part in which transactions. Its writes must run in a
 * transaction, before whose end what waits for it must be flushed.
 */
export class StoredBlocks {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #accounts: Accounts;
  /** Transactions that are still to be written. */
  readonly #transactions: { readonly id: bigint; readonly transaction: ParsedTransaction }[] = [];
  /** Rows of `by_account` that are still to be written. */
  readonly #pending = new Map<number, bigint[]>();
  /** The rows since everything was written. */
  size = 0;

  constructor(database: IndexDatabase, accounts: Accounts) {
    this.#statements = prepare(database);
    this.#accounts = accounts;
  }

  /** Null for a chain without a block. */
  range(slot: number): Range | null {
    const { start, lowest, highest } = this.#statements.range.get(slot, ...blocksOf(slot)) ?? {};
    if (typeof lowest !== 'bigint' || typeof highest !== 'bigint') return null;
    return { from: Number(start), lowest: this.reference(lowest), head: this.reference(highest) };
  }

  /** The first block that is to be indexed, and whether older blocks than those that are added first are still to come. */
  setStart(slot: number, number: number, isFirst: boolean): void {
    this.#statements.setStart.run(number, isFirst ? null : 0, slot);
  }

  silentUntil(slot: number): number | null {
    const silent = this.#statements.silentUntil.get(slot)?.silent_until ?? null;
    return silent === null ? null : Number(silent);
  }

  setSilentUntil(slot: number, number: number): void {
    this.#statements.setSilentUntil.run(number, slot);
  }

  /** The hash of a block; null for one that is not stored. */
  hashOf(block: bigint): Hex | null {
    const { hash } = this.#statements.block.get(block) ?? {};
    return hash instanceof Uint8Array ? hexOf(hash) : null;
  }

  /** @throws when the block is not stored. */
  reference(block: bigint): BlockRef {
    const { hash, parent, time } = this.#statements.block.get(block) ?? {};
    if (!(hash instanceof Uint8Array) || !(parent instanceof Uint8Array))
      throw new Error(`expected the block ${numberOf(block)}, got none`);
    return { number: numberOf(block), hash: hexOf(hash), parentHash: hexOf(parent), time: Number(time) };
  }

  /** Stores a block without its transactions. */
  addBlock(block: bigint, { hash, parentHash, time }: ParsedBlock): void {
    this.#statements.addBlock.run(block, bytesOf(hash), bytesOf(parentHash), time);
  }

  /** Adds a transaction, which `writeTransactions` writes. */
  addTransaction(id: bigint, transaction: ParsedTransaction, parties: ReadonlySet<Hex>): void {
    this.#transactions.push({ id, transaction });
    for (const address of parties) this.addParty(address, id);
  }

  /** In the order of their ids, as which SQLite fills its pages: the other way around, half of each would stay empty. */
  writeTransactions(): void {
    for (const { id, transaction } of this.#transactions.sort(byId))
      this.#statements.addTransaction.run(id, encodeTransaction(transaction));
    this.#transactions.length = 0;
  }

  replaceTransaction(id: bigint, transaction: ParsedTransaction): void {
    this.#statements.setTransaction.run(encodeTransaction(transaction), id);
  }

  addParty(address: Hex, id: bigint): void {
    const account = this.#accounts.numberOf(address);
    this.size += 1;
    const ids = this.#pending.get(account);
    if (ids === undefined) this.#pending.set(account, [id]);
    else ids.push(id);
  }

  dropParty(address: Hex, id: bigint): void {
    this.#statements.dropAddress.run(this.#accounts.numberOf(address), id);
  }

  /** Removes a block with its transactions, but not what addresses take part in them. */
  drop(block: bigint): void {
    this.#statements.dropTransactions.run(...within(block));
    this.#statements.dropBlock.run(block);
  }

  /** The accounts for which rows wait. */
  waiting(): Iterable<number> {
    return this.#pending.keys();
  }

  /** Writes what an account waits for. */
  flush(account: number): void {
    const ids = this.#pending.get(account);
    if (ids === undefined) return;
    this.#pending.delete(account);
    for (const id of ids.sort(compare)) this.#statements.addAddress.run(account, id);
  }

  /** Discards what waits to be written, as after a rollback. */
  clear(): void {
    this.#transactions.length = 0;
    this.#pending.clear();
    this.size = 0;
  }

  /** The transactions of a block, in their order. */
  transactions(block: bigint): readonly Omit<StoredTransaction, 'time'>[] {
    return this.#statements.bodies.all(...within(block)).flatMap(({ id, body }) => transactionIn(id, body));
  }

  /** A transaction with its block, and the size of what is stored of it; undefined for an unknown id. */
  transaction(id: bigint):
    | {
        readonly transaction: ParsedTransaction;
        readonly block: { readonly number: number; readonly hash: Hex; readonly time: number };
        readonly bytes: number;
      }
    | undefined {
    const { body, hash, time } = this.#statements.transaction.get(id) ?? {};
    if (!(body instanceof Uint8Array) || !(hash instanceof Uint8Array)) return undefined;
    const block = { number: numberOf(blockOf(id)), hash: hexOf(hash), time: Number(time) };
    return { transaction: decodeTransaction(body, indexOf(id)), block, bytes: body.length };
  }

  /** The transactions that an address takes part in, the newest first. */
  *history(slot: number, address: Hex): Generator<StoredTransaction> {
    const account = this.#accounts.find(address);
    if (account !== null) yield* storedIn(this.#statements.history.iterate(account, ...transactionsOf(slot)));
  }

  /** The transactions that an address takes part in from a time on, the oldest first. */
  *historyFrom(slot: number, address: Hex, since: number): Generator<StoredTransaction> {
    const { id } = this.#statements.since.get(slot, since) ?? {};
    const account = this.#accounts.find(address);
    if (typeof id !== 'bigint' || account === null) return;
    const [, end] = transactionsOf(slot);
    yield* storedIn(this.#statements.forwards.iterate(account, transactionId(id, 0), end));
  }
}

const compare = (one: bigint, other: bigint): number => (one < other ? -1 : 1);

const byId = (one: { readonly id: bigint }, other: { readonly id: bigint }): number =>
  compare(one.id, other.id);

function* storedIn(rows: Iterable<Record<string, unknown>>): Generator<StoredTransaction> {
  for (const { id, body, time } of rows)
    for (const stored of transactionIn(id, body)) yield { ...stored, time: Number(time) };
}

const transactionIn = (id: unknown, body: unknown): readonly Omit<StoredTransaction, 'time'>[] =>
  typeof id === 'bigint' && body instanceof Uint8Array
    ? [{ id, transaction: decodeTransaction(body, indexOf(id)) }]
    : [];

/** The ids that the transactions of a block are between. */
const within = (block: bigint) => [transactionId(block, 0), transactionId(block + 1n, 0)] as const;

const HISTORY = `
  SELECT by_account.id, body, time FROM by_account JOIN transactions USING (id)
    JOIN blocks ON blocks.id = by_account.id >> 20
  WHERE account = ? AND by_account.id >= ? AND by_account.id < ? ORDER BY by_account.id`;

const prepare = (database: DatabaseSync) => ({
  range: database.prepare(
    `SELECT start, (SELECT min(id) FROM blocks WHERE id >= ?2 AND id < ?3) AS lowest,
       (SELECT max(id) FROM blocks WHERE id >= ?2 AND id < ?3) AS highest
     FROM chains WHERE slot = ?1`,
  ),
  setStart: database.prepare('UPDATE chains SET start = ?, unlisted = ? WHERE slot = ?'),
  silentUntil: database.prepare('SELECT silent_until FROM chains WHERE slot = ?'),
  setSilentUntil: database.prepare('UPDATE chains SET silent_until = ? WHERE slot = ?'),
  block: database.prepare('SELECT hash, parent, time FROM blocks WHERE id = ?'),
  addBlock: database.prepare('INSERT INTO blocks (id, hash, parent, time) VALUES (?, ?, ?, ?)'),
  dropBlock: database.prepare('DELETE FROM blocks WHERE id = ?'),
  addTransaction: database.prepare('INSERT INTO transactions VALUES (?, ?)'),
  transaction: database.prepare(
    `SELECT body, hash, time FROM transactions JOIN blocks ON blocks.id = transactions.id >> 20
     WHERE transactions.id = ?`,
  ),
  setTransaction: database.prepare('UPDATE transactions SET body = ? WHERE id = ?'),
  bodies: database.prepare('SELECT id, body FROM transactions WHERE id >= ? AND id < ?'),
  dropTransactions: database.prepare('DELETE FROM transactions WHERE id >= ? AND id < ?'),
  addAddress: database.prepare('INSERT INTO by_account VALUES (?, ?)'),
  dropAddress: database.prepare('DELETE FROM by_account WHERE account = ? AND id = ?'),
  history: database.prepare(`${HISTORY} DESC`),
  forwards: database.prepare(HISTORY),
  since: database.prepare('SELECT id FROM blocks WHERE slot = ? AND time >= ? ORDER BY time, id LIMIT 1'),
});
