import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * The file of the index. Whoever stores something beside the index, such as webhooks with their pending deliveries, has
 * tables of its own in it, so that they change in one transaction with a block.
 */

/** Pages of 4 KiB in the `-wal` file at which SQLite copies them into the file: those of a few large blocks. */
const CHECKPOINT_PAGES = 8000;

/**
 * The database of the index. Integers are read from it as BigInts: ids exceed 2^53, and without BigInts every statement that
 * touches such an id throws.
 */
export class IndexDatabase extends DatabaseSync {
  #isLasting = false;
  /** Writes what waits for the end of the lasting transaction. */
  #beforeCommit: () => void = () => {};
  readonly #onRollback: (() => void)[] = [];

  constructor(path: string) {
    super(path, { timeout: 1000, readBigInts: true });
  }

  /** Is called after a transaction was rolled back, of which parts are in memory as well. */
  onRollback(listener: () => void): void {
    this.#onRollback.push(listener);
  }

  /**
   * Runs `work` in a transaction that stays open behind it, for more of the same and for whatever else is written until `commit`:
   * a page of the file that many parts of it change is written once. A process that ends before forgets all of it, so it is for
   * what can be fetched again. A failure takes all of it back. `beforeCommit` writes what waits for the end.
   */
  lasting<Result>(beforeCommit: () => void, work: () => Result): Result {
    if (!this.isTransaction) {
      if (this.#isLasting) this.rollBack();
      this.exec('BEGIN IMMEDIATE');
      this.#isLasting = true;
      this.#beforeCommit = beforeCommit;
    }
    try {
      return work();
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** Ends the lasting transaction, if there is one, and keeps it. */
  commit(): void {
    if (!this.#isLasting) return;
    try {
      if (!this.isTransaction)
        throw new Error('the transaction was rolled back, as after a failure of the disk');
      this.#beforeCommit();
      this.exec('COMMIT');
      this.#isLasting = false;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** Takes back all of the transaction. After some failures, such as those of the disk, SQLite has done it by itself. */
  rollBack(): void {
    if (this.isTransaction) this.exec('ROLLBACK');
    this.#isLasting = false;
    for (const listener of this.#onRollback) listener();
  }
}

/**
 * Opens the file, and makes it with its folder if it does not exist. What a transaction has written outlives the process once it
 * ends. A machine that fails may forget the last ones, as if they had not been: blocks are then indexed, and their deliveries made,
 * again.
 * @throws when it can't be opened, or is not an SQLite database.
 */
export const openDatabase = (path: string): IndexDatabase => {
  mkdirSync(dirname(path), { recursive: true });
  const database = new IndexDatabase(path);
  try {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
       PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -24576; PRAGMA temp_store = MEMORY`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/**
 * Runs `work` in a transaction: either everything that it writes is kept, or nothing. Within another transaction it
 * is a part of that one.
 */
export const inTransaction = <Result>(database: IndexDatabase, work: () => Result): Result => {
  const isPart = database.isTransaction;
  database.exec(isPart ? 'SAVEPOINT part' : 'BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec(isPart ? 'RELEASE part' : 'COMMIT');
    return result;
  } catch (error) {
    if (isPart && database.isTransaction) database.exec('ROLLBACK TO part; RELEASE part');
    else database.rollBack();
    throw error;
  }
};

/** As `inTransaction`, and what is kept outlives the process at once, as a lasting transaction does not. */
export const inOwnTransaction = <Result>(database: IndexDatabase, work: () => Result): Result => {
  database.commit();
  return inTransaction(database, work);
};

/** As `inOwnTransaction`, and a machine that fails then does not forget it. */
export const inDurableTransaction = <Result>(database: IndexDatabase, work: () => Result): Result => {
  database.commit();
  if (database.isTransaction) return work();
  database.exec('PRAGMA synchronous = FULL');
  try {
    return inTransaction(database, work);
  } finally {
    database.exec('PRAGMA synchronous = NORMAL');
  }
};

/**
 * Makes the tables of the index. A file in another format loses these tables, and nothing else: they are made anew from the
 * chains, whose blocks are announced from where it was. Returns the format of which the tables were removed; null without one.
 */
export const createTables = (database: IndexDatabase): number | null => {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version === VERSION) return null;
  return inTransaction(database, () => {
    const heads = version === 0 ? [] : headsOf(database);
    for (const table of TABLES) database.exec(`DROP TABLE IF EXISTS ${table}`);
    database.exec(`${SCHEMA}; PRAGMA user_version = ${VERSION}`);
    const add = database.prepare('INSERT INTO chains VALUES (?, ?, 0, ?, NULL)');
    for (const [slot, { id, head }] of heads.entries()) add.run(slot, id, head);
    return version === 0 ? null : version;
  });
};

/** The slot of a chain, which gets the next free one when the index does not know it. */
export const claimSlot = (database: DatabaseSync, chainId: number): number => {
  database
    .prepare('INSERT OR IGNORE INTO chains SELECT ifnull(max(slot) + 1, 0), ?, 0, NULL, NULL FROM chains')
    .run(chainId);
  const slot = Number(database.prepare('SELECT slot FROM chains WHERE id = ?').get(chainId)?.slot);
  if (slot > MAX_SLOT) throw new Error(`the index has room for ${MAX_SLOT + 1} chains, got one more`);
  return slot;
};

/** How far the chains of an index in another format are; none where it does not have these tables. */
const headsOf = (database: DatabaseSync): readonly { readonly id: bigint; readonly head: number }[] => {
  try {
    return database
      .prepare('SELECT chains.id, max(blocks.id) AS head FROM chains JOIN blocks USING (slot) GROUP BY slot')
      .all()
      .flatMap(({ id, head }) =>
        typeof id === 'bigint' && typeof head === 'bigint' ? [{ id, head: numberOf(head) }] : [],
      );
  } catch {
    return [];
  }
};

/** The format of the tables. */
const VERSION = 6;

/** All that are made from the chains, also those that others make. */
const TABLES = [
  'chains',
  'blocks',
  'transactions',
  'accounts',
  'by_address',
  'by_account',
  'holdings',
  'untraced',
  'approvals',
  'unsettled',
  'revisions',
  'contracts',
];

/**
 * Addresses and hashes are stored as their bytes, amounts and token ids as `amountBytes` writes them: comparing the bytes
 * compares the numbers.
 *
 * Table `chains`: a chain's slot, which stands for it in the other tables, the first block that is to be indexed, and the
 * newest block that is not announced, as the chain had it when it was first followed; null before that. `unlisted` is the first
 * account whose holdings are not listed yet; null where all are.
 *
 * Table `blocks`: the blocks of a chain, without a gap between its lowest and its head. For their ids see `blockId`.
 * Times are in milliseconds since 1970.
 *
 * Table `accounts`: the numbers that stand for addresses in `by_account` and `holdings`: see `Accounts`.
 *
 * Table `by_account`: the transactions of every address, in the order of their ids, which is that of their chain.
 *
 * Table `holdings`: what the transfers of tokens sum up to, for each account and asset that has moved. The standard is 0
 * for ERC-20, and else 721 or 1155; ERC-20s have the token id 0. `time` is that of the first receipt of an ERC-20, and
 * of the last receipt of an NFT; null without a receipt. The index `holders` has all that the list of holders says, of rows that
 * are `listed`: the order of amounts is spread over the whole file, so rows of older blocks are listed once all of these are in.
 * Sums of amounts may be negative, as long as older blocks are missing; those of the zero address are what was burned less what was
 * minted. Nothing but what the stored transactions say is in this table, so blocks may come and go at both ends in any order.
 *
 * Table `untraced`: the blocks of which it is not known what calls within their transactions moved, and whether they were
 * announced: then what they moved is, too.
 *
 * Tables `unsettled` and `revisions`: see `Unsettled` and `Revisions`.
 */
const SCHEMA = `
  CREATE TABLE chains (
    slot INTEGER PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,
    start INTEGER NOT NULL,
    silent_until INTEGER,
    unlisted INTEGER
  ) STRICT;
  CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    slot INTEGER AS (id >> 36),
    hash BLOB NOT NULL,
    parent BLOB NOT NULL,
    time INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX blocks_by_time ON blocks (slot, time);
  CREATE TABLE transactions (
    id INTEGER PRIMARY KEY,
    body BLOB NOT NULL
  ) STRICT;
  CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    address BLOB NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE by_account (
    account INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE holdings (
    account INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    standard INTEGER NOT NULL,
    token BLOB NOT NULL,
    token_id BLOB NOT NULL,
    amount BLOB NOT NULL,
    time INTEGER,
    receipts INTEGER NOT NULL,
    sends INTEGER NOT NULL,
    listed INTEGER NOT NULL,
    PRIMARY KEY (account, slot, standard, token, token_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX holders ON holdings (slot, token, amount DESC, account, time, sends)
    WHERE listed = 1 AND +standard = 0 AND amount > x'80';
  CREATE INDEX collectibles ON holdings (account, slot, time, standard, token, token_id)
    WHERE +standard > 0 AND amount > x'80';
  CREATE TABLE untraced (
    announced INTEGER NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (announced, block)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE unsettled (
    contract BLOB NOT NULL,
    id INTEGER NOT NULL,
    announced INTEGER NOT NULL,
    PRIMARY KEY (contract, id)
  ) STRICT, WITHOUT ROWID`;

/** A chain has room for 2^36 blocks of 2^20 transactions each. */
const BLOCK_BITS = 36n;
const INDEX_BITS = 20n;
/** The slots for which ids fit the 63 bits of SQLite's integers. */
const MAX_SLOT = 127;

export const blockId = (slot: number, number: number): bigint =>
  (BigInt(slot) << BLOCK_BITS) | BigInt(number);

/** The ids that the blocks of a chain's slot are between. */
export const blocksOf = (slot: number) => [blockId(slot, 0), blockId(slot + 1, 0)] as const;

/** A transaction's id: its block's id in the upper bits. */
export const transactionId = (block: bigint, index: number): bigint => (block << INDEX_BITS) | BigInt(index);

/** The ids that the transactions of a chain's slot are between. */
export const transactionsOf = (slot: number) =>
  [transactionId(blockId(slot, 0), 0), transactionId(blockId(slot + 1, 0), 0)] as const;

export const blockOf = (transaction: bigint): bigint => transaction >> INDEX_BITS;

export const slotOf = (block: bigint): number => Number(block >> BLOCK_BITS);

export const numberOf = (block: bigint): number => Number(BigInt.asUintN(Number(BLOCK_BITS), block));

export const indexOf = (transaction: bigint): number =>
  Number(BigInt.asUintN(Number(INDEX_BITS), transaction));
