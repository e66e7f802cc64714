import type { DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../lib/errors.ts';
import { createRoundRobinScheduler, type Steps } from '../../../lib/time-slices.ts';
import { areDifferent, Cursors } from '../../log/cursor.ts';
import { LogOpenError } from '../../log/errors.ts';
import type { DeliveryPage, DeliveryRange, LogSize, StoredDelivery } from '../../log/log.ts';
import { type PageSource, readPage } from '../../log/page.ts';
import {
  type Checkpoint,
  checkpointOf,
  epochSeed,
  givenEpochs,
  LogFile,
  leftBy,
  openForReading,
  verify,
} from '../database.ts';
import {
  Fingerprints,
  fingerprintIn,
  type Row,
  type RowDelivery,
  Rows,
  rowDelivery,
  storedDelivery,
} from '../rows.ts';
import { SegmentSearch, SqliteSearch, TailSearch } from '../search.ts';
import { packPage } from './packing.ts';
import { type ReaderMethods, serve } from './protocol.ts';
import { ReconnectingDatabase } from './reconnecting.ts';

/** Runs steps among those of other reads. */
type RunSteps = <Result>(steps: Steps<Result>) => Promise<Result>;

/** Reads a log over a connection of its own, while the writer writes. */
export class SqliteReader {
  readonly file: LogFile;
  readonly #database: DatabaseSync;
  readonly #cursors: Cursors;
  readonly #rows: Rows;
  readonly #fingerprints: Fingerprints;
  readonly #search: SqliteSearch;
  readonly #probe;
  readonly #size;
  readonly #checkpoint;

  /** Throws LogOpenError. */
  constructor(path: string) {
    this.#database = openForReading(path);
    try {
      this.file = new LogFile(path, this.#database);
      this.#cursors = new Cursors(epochSeed(this.#database), givenEpochs(this.#database));
      this.#rows = new Rows(this.#database);
      this.#fingerprints = new Fingerprints(this.#database);
      this.#search = new SqliteSearch(new SegmentSearch(this.#database), new TailSearch(this.#database));
      this.#probe = this.#database.prepare('SELECT 1 FROM delivery ORDER BY id DESC LIMIT 1');
      this.#size = this.#database.prepare(
        `SELECT count(*) AS tenants, ifnull(sum(head - floor), 0) AS deliveries, min(oldest) AS oldest
         FROM tenant WHERE head > floor`,
      );
      this.#checkpoint = checkpointOf(this.#database, 'PASSIVE');
    } catch (error) {
      this.#database.close();
      throw new LogOpenError(path, messageOf(error), error);
    }
  }

  /** Throws when the log can't be read. */
  checkReadable(): void {
    this.file.check();
    this.#probe.get();
  }

  size(): LogSize {
    const { deliveries, tenants, oldest } = this.#size.get() ?? {};
    return {
      bytes: this.file.bytes(),
      deliveries: Number(deliveries),
      tenants: Number(tenants),
      oldestAt: typeof oldest === 'bigint' ? Number(oldest) : null,
    };
  }

  /** See `checkpointOf`. Must not run between the rows of a statement. */
  checkpoint(): Checkpoint {
    this.file.check();
    return this.#checkpoint();
  }

  /** Returns null when the log does not hold the delivery, or no longer. Throws InvalidCursorError. */
  get(tenant: string, cursor: string): StoredDelivery | null {
    this.file.check();
    const place = this.#cursors.find(tenant, cursor);
    const row = place && this.#rows.get(this.#rows.extent(tenant).id, place.sequence);
    if (!row || areDifferent(place.fingerprint, fingerprintIn(row))) return null;
    return storedDelivery(row, tenant, cursor);
  }

  /** Reads a page, in short steps that `run` schedules. Rejects as `readPage` does. */
  page(tenant: string, range: DeliveryRange, run: RunSteps): Promise<DeliveryPage<RowDelivery>> {
    this.file.check();
    const { id, indexed, ...extent } = this.#rows.extent(tenant);
    const fingerprintAt = (sequence: number) => this.#fingerprints.at(id, sequence);
    const source: PageSource<RowDelivery> = {
      extent,
      resume: (cursor) => this.#cursors.sequence(tenant, cursor, extent, fingerprintAt),
      find: (filter, sequences, maxScanned) =>
        run(this.#search.find(id, indexed, filter, sequences, maxScanned)),
      load: async (sequences, maxBytes) => {
        const deliveryOf = (row: Row) => {
          const place = { sequence: Number(row.sequence), fingerprint: fingerprintIn(row) };
          return rowDelivery(row, tenant, this.#cursors.cursor(tenant, place));
        };
        const deliveries = await run(this.#rows.load(id, sequences, maxBytes, deliveryOf));
        return { deliveries, floor: this.#rows.extent(tenant).floor };
      },
      cursorAt: (sequence) =>
        this.#cursors.cursor(tenant, { sequence, fingerprint: fingerprintAt(sequence) }),
    };
    return readPage(source, range);
  }

  /** See `verify` in integrity.ts. */
  verify(): Steps<void> {
    return verify(this.#database);
  }

  close(): void {
    this.#database.close();
  }
}

// Entry of the thread that reads the log. Its connection is its own: no search delays a commit, and no commit a search.

/** Reads the log at `path` for the requests that arrive at the port. */
export const serveLog = (port: MessagePort, path: string): void => {
  const database = new ReconnectingDatabase(path, () => new SqliteReader(path));
  const scheduler = createRoundRobinScheduler();
  serve<ReaderMethods>(port, {
    page: async ({ caller, tenant, range }, signal, transfer) => {
      const page = await database.withConnectionAsync((reader) =>
        reader.page(tenant, range, (steps) => scheduler.runSteps(caller, steps, signal)),
      );
      const packed = packPage(page);
      transfer(packed.bytes.buffer);
      return packed;
    },
    get: ({ caller, tenant, cursor }, signal) =>
      database.withConnectionAsync((reader) =>
        scheduler.run(caller, () => reader.get(tenant, cursor), signal),
      ),
    check: () => {
      database.withConnection((reader) => reader.checkReadable());
      return null;
    },
    size: () => database.withConnection((reader) => reader.size()),
    checkpoint: () => leftBy(database.withConnection((reader) => reader.checkpoint())),
    open: () => {
      database.reopen();
      return null;
    },
    verify: async () => {
      await database.withConnectionAsync((reader) => scheduler.runSteps('', reader.verify()));
      return null;
    },
    close: () => {
      database.close();
      return null;
    },
  });
};

if (parentPort !== null && typeof workerData === 'string') serveLog(parentPort, workerData);
