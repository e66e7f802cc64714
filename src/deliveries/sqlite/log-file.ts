import { type BigIntStats, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../lib/error-text.ts';
import { LogDamagedError, LogOpenError } from '../log/errors.ts';

const SQLITE_BUSY = 5;

/**
 * Locks the directory for this process, until the returned function is called or the process ends, however it ends. The
 * lock is the operating system's, on a database of its own that stays empty. Throws LogOpenError.
 */
export const lockDirectory = (directory: string): (() => void) => {
  const path = join(directory, 'deliveries.lock');
  let database: DatabaseSync | undefined;
  try {
    const lock = new DatabaseSync(path, { timeout: 0 });
    database = lock;
    lock.exec('BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (error) {
    database?.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    const problem = isBusy ? 'the delivery log is in use by another process' : messageOf(error);
    throw new LogOpenError(path, problem, error);
  }
};

/** SQLite's own file, and the two that it has beside it while it is open. */
const SUFFIXES = ['', '-wal', '-shm'];

/**
 * Watches the files of an open log. SQLite does not notice when they are deleted, replaced or cut: what it writes after
 * that is lost. A check takes a few microseconds.
 */
export class LogFile {
  readonly #path: string;
  readonly #known = new Map<string, BigIntStats>();

  /** Must be made right after SQLite has opened the log: the files at `path` are taken to be the log's. */
  constructor(path: string) {
    this.#path = path;
    this.check();
  }

  /** Throws LogDamagedError when a file was deleted or replaced, or the log's own file was cut. */
  check(): void {
    for (const suffix of SUFFIXES) this.#check(suffix);
  }

  /**
   * Throws LogDamagedError when the log must not be opened again by its path. The newest deliveries are in the `-wal` file
   * and belong to the first file: SQLite would write them into any other file in its place.
   */
  checkBeforeReopening(): void {
    const [found, wal] = ['', '-wal'].map((suffix) => statOf(this.#path + suffix));
    if (found?.ino !== this.#known.get('')?.ino && (wal?.size ?? 0n) > 0n)
      throw new LogDamagedError(
        `another file is in the place of ${this.#path}, beside what was still to be written to the first: stop the gateway`,
      );
  }

  #check(suffix: string): void {
    const path = this.#path + suffix;
    const found = statOf(path);
    const known = this.#known.get(suffix);
    if (known !== undefined) {
      if (found === undefined) throw new LogDamagedError(`${path} is gone`);
      if (found.ino !== known.ino || found.dev !== known.dev)
        throw new LogDamagedError(`another file is in the place of ${path}`);
      // The log's own file never shrinks; the two beside it may.
      if (suffix === '' && found.size < known.size)
        throw new LogDamagedError(`${path} was cut from ${known.size} to ${found.size} bytes`);
    }
    if (found !== undefined) this.#known.set(suffix, found);
  }
}

const statOf = (path: string): BigIntStats | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false });
