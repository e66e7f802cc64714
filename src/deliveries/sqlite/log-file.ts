import { type BigIntStats, statSync } from 'node:fs';
import { LogDamagedError } from '../log/errors.ts';

/** SQLite's own file, and the two that it keeps beside it while it is open. */
const SUFFIXES = ['', '-wal', '-shm'];

/**
 * The files of an open log. SQLite does not notice when they are deleted, replaced or cut: what it writes then is lost.
 * A check costs a few microseconds.
 */
export class LogFile {
  readonly #path: string;
  readonly #known = new Map<string, BigIntStats>();

  /** Of a log that was just opened. */
  constructor(path: string) {
    this.#path = path;
    this.check();
  }

  /** Throws LogDamagedError when one of them is not what it was. */
  check(): void {
    for (const suffix of SUFFIXES) this.#check(suffix);
  }

  /**
   * Throws LogDamagedError when the log must not be opened again by its path. The newest deliveries are in the `-wal` file
   * and belong to the first file: SQLite would write them into any other that is in its place.
   */
  checkBeforeReopening(): void {
    const [found, written] = ['', '-wal'].map((suffix) =>
      statSync(this.#path + suffix, { bigint: true, throwIfNoEntry: false }),
    );
    if (found?.ino !== this.#known.get('')?.ino && (written?.size ?? 0n) > 0n)
      throw new LogDamagedError(
        `another file is in the place of ${this.#path}, beside what was still to be written to the first: stop the gateway`,
      );
  }

  #check(suffix: string): void {
    const path = this.#path + suffix;
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    const known = this.#known.get(suffix);
    if (known !== undefined) {
      if (found === undefined) throw new LogDamagedError(`${path} is gone`);
      if (found.ino !== known.ino || found.dev !== known.dev)
        throw new LogDamagedError(`another file is in the place of ${path}`);
      // The log itself never shrinks; what is beside it may.
      if (suffix === '' && found.size < known.size)
        throw new LogDamagedError(`${path} was cut from ${known.size} to ${found.size} bytes`);
    }
    if (found !== undefined) this.#known.set(suffix, found);
  }
}
