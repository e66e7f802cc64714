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

/** The rows that wait, at most about: those of some 15,000 transactions. */
const MOST_ROWS = 150_000;
/** A process that is killed fetches again what was added since. */
const MOST_MS = 3_000;
/** Nothing is answered while the rows of so many accounts are written. */
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
  /** The accounts whose rows are being written in several turns, the last one first; null while they wait. */
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
   * Goes on with keeping what lasts, once there is much of it or it is old, for one turn. Returns whether there is nothing more to
   * do.
   */
  keepSome(): boolean {
    if (this.#writing === null) {
      if (this.#rows < MOST_ROWS && performance.now() - this.#since < MOST_MS) return true;
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

  /** Keeps what lasts. */
  keep(): void {
    this.#options.database.commit();
  }

  /** The number of an account in the tables, which have all of it then; null for one that was never seen. */
  account(address: Hex): number | null {
    const account = this.#options.accounts.find(address);
    if (account !== null && this.#rows > 0) this.lasting(() => this.#write(account));
    return account;
  }

  /** Writes what waits, so that the tables have all of it. */
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

  /** The accounts of which rows wait, the last one first. */
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
