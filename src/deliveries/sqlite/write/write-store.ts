import { rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../../lib/error-text.ts';
import { LogOpenError } from '../../log/errors.ts';
import { BEFORE_FIRST, fingerprintOf } from '../../log/identity.ts';
import type { KeptTime } from '../../log/retention-clock.ts';
import { epochSeed, inTransaction, openForWriting, upgradeSchema } from '../database.ts';
import { Indexer } from '../index/indexer.ts';
import { checkIntegrity } from '../integrity.ts';
import { LogFile } from '../log-file.ts';
import type { Head } from '../worker/protocol.ts';
import { Appender } from './appender.ts';
import { keptTime, RetentionTrimmer } from './retention.ts';

/** Reads each tenant with its newest delivery, or with its last trimmed one if retention has dropped all. */
const HEADS = `
  SELECT name, head, identity, received, fingerprint
  FROM tenant
  LEFT JOIN delivery ON delivery.id = (tenant.id << 40 | head)
  LEFT JOIN trimmed ON trimmed.tenant = tenant.id AND trimmed.sequence = head`;

/** No delivery has the id 0: tenants and sequences begin with 1. */
const INSERT_CHECK =
  "INSERT INTO delivery (id, received, identity, addresses, body) VALUES (0, 0, x'', '', x'')";
/** As large as a page of the log's file. */
const CHECK_CONTENT = Buffer.alloc(4096);

/** When the newest delivery was received, of the newest of each tenant. */
const NEWEST =
  'SELECT max(received) AS received FROM tenant JOIN delivery ON delivery.id = (tenant.id << 40 | head)';

/** The writer's connection to the log's file, with everything that writes over it. */
export class WriteStore {
  readonly seed: Uint8Array;
  readonly indexer: Indexer;
  readonly appender: Appender;
  readonly trimmer: RetentionTrimmer;
  readonly file: LogFile;
  readonly #database: DatabaseSync;
  readonly #path: string;

  /** Throws LogOpenError. With `check`, it refuses a damaged log before it reads or writes anything else. */
  constructor(path: string, { create, check }: { readonly create: boolean; readonly check: boolean }) {
    this.#database = openForWriting(path, create);
    this.#path = path;
    try {
      if (check) checkIntegrity(this.#database, path);
      upgradeSchema(this.#database);
      this.seed = epochSeed(this.#database);
      this.indexer = new Indexer(this.#database);
      this.trimmer = new RetentionTrimmer(this.#database, this.indexer);
      this.appender = new Appender(this.#database, this.indexer, this.trimmer);
      this.file = new LogFile(path);
    } catch (error) {
      this.#database.close();
      throw new LogOpenError(path, messageOf(error), error);
    }
  }

  /** Returns the head of every tenant. One statement reads them all, however many tenants there are. */
  heads(): Head[] {
    const rows = this.#database.prepare(HEADS).all();
    return rows.map(({ name, head, identity, received, fingerprint }): Head => {
      const stored = identity instanceof Uint8Array ? fingerprintOf(identity, Number(received)) : null;
      const trimmed = fingerprint === null ? null : Number(fingerprint);
      return [String(name), Number(head), Number(head) === 0 ? BEFORE_FIRST : (stored ?? trimmed)];
    });
  }

  /**
   * A time that has come for certain: the one that the log has kept, or when its newest delivery was received; null without
   * either.
   */
  time(): KeptTime | null {
    const kept = keptTime(this.#database);
    if (kept !== null) return kept;
    const newest = this.#database.prepare(NEWEST).get()?.received;
    return newest === null || newest === undefined ? null : { now: Number(newest), jump: null };
  }

  /** Runs `work` in a transaction. Throws LogDamagedError when the log's file was deleted, replaced or cut. */
  readonly transaction = <Result>(work: () => Result): Result => {
    this.file.check();
    const result = inTransaction(this.#database, work);
    this.file.check();
    return result;
  };

  /**
   * Throws when a delivery can't be stored. Nothing is committed: the `-wal` file would have something to be written for as
   * long as readiness is asked, see `checkBeforeReopening`. So a file beside the log shows whether the disk takes more.
   */
  checkWritable(): void {
    this.file.check();
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      this.#database.exec(INSERT_CHECK);
    } finally {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
    const path = `${this.#path}-check`;
    writeFileSync(path, CHECK_CONTENT, { flush: true, mode: 0o600 });
    rmSync(path);
  }

  close(): void {
    this.#database.close();
  }
}
