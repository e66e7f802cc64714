import type { DatabaseSync } from 'node:sqlite';

/** With fewer free pages (4 MB) a file stays as it is. */
const MIN_FREE_PAGES = 1024;
/** Of all pages: above the first the file begins to shrink, until at most the second is free, which new deliveries use. */
const BEGIN_ABOVE = 1 / 4;
const END_AT = 1 / 16;

const PAGES_AT_ONCE = 16;
const STEP_MS = 2;

/**
 * Gives the space of dropped deliveries back to the file system (SQLite's incremental vacuum), once so much is free that new
 * deliveries won't need it soon: pages at the end of the file move to free ones.
 */
export class Shrinker {
  readonly #database: DatabaseSync;
  readonly #pages;
  readonly #freePages;
  readonly #checkpoint;
  /** A file of an earlier format can't shrink: its pages don't say what points to them. */
  readonly #canShrink: boolean;
  #isShrinking = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#pages = database.prepare('PRAGMA page_count');
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#freePages = database.prepare('PRAGMA freelist_count');
    this.#canShrink = Number(database.prepare('PRAGMA auto_vacuum').get()?.auto_vacuum) === 2;
  }

  /** Needs no transaction. */
  get isDue(): boolean {
    if (!this.#canShrink) return false;
    const free = Number(this.#freePages.get()?.freelist_count);
    const pages = Number(this.#pages.get()?.page_count);
    return free > Math.max(MIN_FREE_PAGES, pages * (this.#isShrinking ? END_AT : BEGIN_ABOVE));
  }

  /** Moves pages for a few milliseconds. Must run in a transaction. */
  step(): void {
    this.#isShrinking = true;
    const end = performance.now() + STEP_MS;
    do this.#database.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
    while (performance.now() < end && this.isDue);
  }

  /** Lets the file system have what is free. Must run outside a transaction. */
  finish(): void {
    if (!this.#isShrinking) return;
    // The file is cut once the pages in the `-wal` file are written into it.
    const { busy } = this.#checkpoint.get() ?? {};
    // If not by another checkpoint that is under way, then by the next trim.
    this.#isShrinking = busy !== 0n;
  }
}
