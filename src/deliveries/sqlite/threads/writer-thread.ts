import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { RecentGrowth } from '../../log/appends.ts';
import { LogOpenError } from '../../log/errors.ts';
import { describeFence } from '../../log/fence.ts';
import type { Changes } from '../../log/log.ts';
import { WriteStore } from '../appender.ts';
import { leftBy } from '../database.ts';
import type { Trim } from '../retention.ts';
import { type PackedDeliveries, type PackedPlacements, packPlacements, unpackDeliveries } from './packing.ts';
import { type Opened, serve, type WriterMethods } from './protocol.ts';
import { ReconnectingDatabase } from './reconnecting.ts';

type ArrivedBatch = {
  readonly packed: PackedDeliveries;
  readonly resolve: (placements: PackedPlacements) => void;
  readonly reject: (error: unknown) => void;
};

/** Deliveries in one transaction. More of them save little, and the first one waits for longer. */
const MAX_COMMIT = 256;

/**
 * The only writer of the log, with group commit: all deliveries that arrive while one transaction is committed are the next
 * transaction. An idle writer commits a delivery at once. Under load one sync serves many. No interval needs to be tuned.
 */
export class Writer {
  readonly #path: string;
  readonly #store: ReconnectingDatabase<WriteStore>;
  readonly #growth = new RecentGrowth();
  #pending: ArrivedBatch[] = [];
  #closed = false;

  constructor(path: string) {
    this.#path = path;
    this.#store = new ReconnectingDatabase(path, () => new WriteStore(path, { create: false, check: false }));
  }

  /** Throws LogOpenError, also for a log that is damaged or fenced. No other call checks for damage, because the check takes long. */
  open({ create }: WriterMethods['open']['params']): Opened {
    this.#store.checkFile();
    const store = this.#store.reopen(() => new WriteStore(this.#path, { create, check: true }));
    if (store.fence !== null) throw new LogOpenError(this.#path, describeFence(store.fence));
    return { seed: store.seed, epochs: store.epochs, heads: store.heads(), time: store.time() };
  }

  /** Resolves once all that can be stored are durable. Rejects with LogUnavailableError, and then none is stored. */
  append(packed: PackedDeliveries): Promise<PackedPlacements> {
    const { promise, resolve, reject } = Promise.withResolvers<PackedPlacements>();
    // Batches that have arrived already are read before this turn of the event loop ends: they share the transaction.
    if (this.#pending.push({ packed, resolve, reject }) === 1) setImmediate(this.#commitNext);
    return promise;
  }

  /** Throws LogUnavailableError when nothing can be stored now. */
  check(): void {
    this.#store.withConnection((store) => store.checkWritable());
  }

  /** See `leftBy`. */
  checkpoint(): number {
    return leftBy(this.#store.withConnection((store) => store.checkpoint()));
  }

  /** Returns the tenants whose logs have grown since the mark, by this thread's commits. */
  changed(mark: string | null): Changes {
    return this.#growth.since(mark);
  }

  /**
   * Applies the retention, builds the segments that are due, and shrinks the file, in short steps. Waiting deliveries are
   * committed between the steps.
   */
  async trim(trim: Trim): Promise<void> {
    await this.#inSteps(
      ({ trimmer }) => trimmer.isDue(trim),
      ({ trimmer }) => trimmer.step(trim),
    );
    await this.#inSteps(
      ({ indexer }) => indexer.isBehind,
      ({ indexer }) => indexer.catchUp(),
    );
    await this.#inSteps(
      ({ shrinker }) => shrinker.isDue,
      ({ shrinker }) => shrinker.step(),
    );
    if (!this.#closed) this.#store.withConnection(({ shrinker }) => shrinker.finish());
  }

  /** `isDue` runs outside a transaction, so that it costs no commit. */
  async #inSteps(isDue: (store: WriteStore) => boolean, step: (store: WriteStore) => void): Promise<void> {
    while (!this.#closed && this.#store.withConnection(isDue)) {
      this.#store.withConnection((store) => store.transaction(() => step(store)));
      await nextTurn();
      // Deliveries that arrived during the step are committed before the next one.
      if (this.#pending.length > 0) await nextTurn();
    }
  }

  /** Commits the deliveries that wait. A trim in progress ends after its current step. */
  close(): void {
    this.#closed = true;
    while (this.#pending.length > 0) this.#commit();
    this.#store.close();
  }

  readonly #commitNext = (): void => {
    this.#commit();
    if (this.#pending.length > 0) setImmediate(this.#commitNext);
  };

  #commit(): void {
    const batches = this.#takeBatches();
    if (batches.length === 0) return;
    const deliveries = batches.flatMap(({ packed }) => unpackDeliveries(packed));
    try {
      const placements = this.#store.withConnection(({ appender, transaction }) =>
        transaction(() => appender.append(deliveries)),
      );
      for (const [index, placement] of placements.entries()) {
        const tenant = deliveries[index]?.tenant;
        if (tenant !== undefined && !('refusal' in placement) && !placement.duplicate)
          this.#growth.add(tenant, placement.sequence);
      }
      let end = 0;
      for (const { packed, resolve } of batches) {
        const start = end;
        end += packed.addresses.length;
        resolve(packPlacements(placements.slice(start, end)));
      }
    } catch (error) {
      for (const { reject } of batches) reject(error);
    }
  }

  #takeBatches(): ArrivedBatch[] {
    let deliveries = 0;
    const end = this.#pending.findIndex(({ packed }) => {
      deliveries += packed.addresses.length;
      return deliveries >= MAX_COMMIT;
    });
    return this.#pending.splice(0, end === -1 ? this.#pending.length : end + 1);
  }
}

// Entry of the thread that writes the log, so that the disk never blocks the gateway's main thread.

/** Writes the log at `path` for the requests that arrive at the port. */
export const serveLog = (port: MessagePort, path: string): void => {
  const writer = new Writer(path);
  serve<WriterMethods>(port, {
    open: (options) => writer.open(options),
    append: (packed) => writer.append(packed),
    changed: (mark) => writer.changed(mark),
    trim: async (trim) => {
      await writer.trim(trim);
      return null;
    },
    checkpoint: () => writer.checkpoint(),
    check: () => {
      writer.check();
      return null;
    },
    close: () => {
      writer.close();
      return null;
    },
  });
};

if (parentPort !== null && typeof workerData === 'string') serveLog(parentPort, workerData);
