import type { Hex } from '../../types.ts';
import type { Accounts } from './accounts.ts';
import { type IndexDatabase, inOwnTransaction } from './database.ts';
import type { Ledger } from './ledger.ts';
import type { StoredBlocks } from './stored-blocks.ts';

type Options = {
  readonly database: IndexDatabase;
  readonly accounts: Accounts;
  readonly blocks: StoredBlocks;
  readonly ledger: Ledger;
};

/** About how many rows may wait: those of some 15,000 transactions. */
const MOST_ROWS = 150_000;
/** How long rows may wait. A process that is killed has to fetch their blocks again. */
const MOST_MS = 3_000;
/** How many accounts are written before lookups get a turn. */
const ACCOUNTS_A_TURN = 1_000;

/**
 * The transactions of the index. What blocks change of accounts waits for their end: it is written once, however many blocks
 * change it, and in the order of the tables, as neighbours are in one page of the file. New blocks are kept at once, and older
 * ones many at a time, in a transaction that stays open until `keep`.
 */
export class Writes {
  readonly #options: Options;
  #isOpen = false;
  /** When the transaction that stays open began. */
  #since = 0;
  /** The accounts that are still to be written, in descending order; null between two rounds. */
  #writing: number[] | null = null;

  constructor(options: Options) {
    this.#options = options;
    options.database.onRollback(() => this.#nothingWaits());
  }

  /** Whether a transaction is under way that is kept as a whole, or not at all. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Runs `work` in a transaction that is kept at once, or as a part of the one that is under way. */
  transaction<Result>(work: () => Result): Result {
    if (this.#isOpen) return work();
    this.#isOpen = true;
    try {
      return inOwnTransaction(this.#options.database, () => {
        const done = work();
        this.#writeAll();
        return done;
      });
    } finally {
      this.#isOpen = false;
    }
  }

  /** Runs `work` as a part of the transaction that is under way, or else of the one that `keep` ends. */
  lasting(work: () => void): void {
    const { database } = this.#options;
    if (!database.isTransaction) this.#since = performance.now();
    if (this.#isOpen) work();
    else database.lasting(() => this.#writeAll(), work);
  }

  /**
   * Writes the rows of some accounts, and commits after the last account. Returns false while there are more accounts to write.
   * Default: it is due once many rows wait, or have waited for long.
   */
  keepSome(isDue = this.#rows >= MOST_ROWS || performance.now() - this.#since >= MOST_MS): boolean {
    if (this.#writing === null) {
      if (!isDue || !this.#options.database.isTransaction) return true;
      this.#writing = this.#waiting();
    }
    const accounts = this.#writing.splice(-ACCOUNTS_A_TURN).reverse();
    this.lasting(() => {
      for (const account of accounts) this.#write(account);
    });
    if (this.#writing.length > 0) return false;
    this.keep();
    return true;
  }

  /** Writes what waits, and commits. */
  keep(): void {
    this.#options.database.commit();
  }

  /** Writes the rows of an account. Returns its number in the tables; null for an account that was never seen. */
  account(address: Hex): number | null {
    const account = this.#options.accounts.find(address);
    if (account !== null && this.#rows > 0) this.lasting(() => this.#write(account));
    return account;
  }

  /** Writes all rows that wait, if the holdings of a chain are among them. */
  flushHoldings(slot: number): void {
    if (this.#options.ledger.waitsFor(slot)) this.flush();
  }

  /** Writes all rows that wait. */
  flush(): void {
    if (this.#rows > 0) this.lasting(() => this.#writeAll());
  }

  get #rows(): number {
    return this.#options.blocks.size + this.#options.ledger.size;
  }

  #write(account: number): void {
    this.#options.blocks.flush(account);
    this.#options.ledger.flush(account);
  }

  #writeAll(): void {
    for (const account of this.#waiting().reverse()) this.#write(account);
    this.#nothingWaits();
  }

  /** The accounts whose rows wait, in descending order. */
  #waiting(): number[] {
    const { blocks, ledger } = this.#options;
    return [...new Set([...blocks.waiting(), ...ledger.waiting()])].sort((one, other) => other - one);
  }

  #nothingWaits(): void {
    this.#writing = null;
    this.#options.blocks.clear();
    this.#options.ledger.clear();
  }
}
