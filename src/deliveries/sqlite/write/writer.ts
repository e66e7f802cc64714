import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Changes } from '../../log/log.ts';
import { type Packed, type UnpackedRow, unpack } from '../worker/packing.ts';
import type { Opened, Placed, WriterMethods } from '../worker/protocol.ts';
import { ReconnectingDatabase } from '../worker/reconnecting.ts';
import { RecentAppends } from './recent-appends.ts';
import type { Retention } from './retention.ts';
import { WriteStore } from './write-store.ts';

type PendingBatch = {
  readonly packed: Packed;
  readonly resolve: (placed: Placed) => void;
  readonly reject: (error: unknown) => void;
};

/** More in one transaction saves little, and keeps the first of them waiting. */
const MAX_COMMIT = 256;

/**
 * The log's one writer. What has come while a transaction was being committed is the next one: at rest a delivery is
 * committed at once, and under load one sync serves many, without a clock to tune.
 */
export class Writer {
  readonly #path: string;
  readonly #store: ReconnectingDatabase<WriteStore>;
  readonly #recentAppends = new RecentAppends();
  #pending: PendingBatch[] = [];
  #closed = false;

  constructor(path: string) {
    this.#path = path;
    this.#store = new ReconnectingDatabase(path, () => new WriteStore(path, { create: false, check: false }));
  }

  /** Throws LogOpenError, also when the log is damaged. No other call checks for damage, since the check takes long. */
  open({ create }: WriterMethods['open']['params']): Opened {
    this.#store.checkFile();
    const store = this.#store.reopen(() => new WriteStore(this.#path, { create, check: true }));
    return { seed: store.seed, heads: store.tenants.heads() };
  }

  /** Resolves once all that can be stored are durable. Rejects with LogUnavailableError, and then none is stored. */
  append(packed: Packed): Promise<Placed> {
    const { promise, resolve, reject } = Promise.withResolvers<Placed>();
    // Whatever else has already arrived is read before the turn ends.
    if (this.#pending.push({ packed, resolve, reject }) === 1) setImmediate(this.#commitSome);
    return promise;
  }

  /** The tenants whose logs have grown since the mark, by this thread's commits. */
  changed(mark: string | null): Changes {
    return this.#recentAppends.since(mark);
  }

  /**
   * Drops what is beyond the retention, and puts into the indexes what waits for them, in short steps between which
   * waiting deliveries are committed.
   */
  async trim(retention: Retention, now: number): Promise<void> {
    await this.#inSteps(
      ({ trimming }) => trimming.isDue(retention, now),
      ({ trimming }) => trimming.step(retention, now),
    );
    await this.#inSteps(
      ({ indexer }) => indexer.isBehind,
      ({ indexer }) => indexer.catchUp(),
    );
  }

  /** Looking whether there is anything to do costs no commit. */
  async #inSteps(isDue: (store: WriteStore) => boolean, step: (store: WriteStore) => void): Promise<void> {
    while (!this.#closed && this.#store.withConnection(isDue)) {
      this.#store.withConnection((store) => store.transaction(() => step(store)));
      await nextTurn();
      // Deliveries that arrived during the step are committed before the next one.
      if (this.#pending.length > 0) await nextTurn();
    }
  }

  /** Commits what waits, and leaves the rest of a trim that runs for another time. */
  close(): void {
    this.#closed = true;
    while (this.#pending.length > 0) this.#commit();
    this.#store.close();
  }

  readonly #commitSome = (): void => {
    this.#commit();
    if (this.#pending.length > 0) setImmediate(this.#commitSome);
  };

  #commit(): void {
    const taken = this.#take();
    if (taken.length === 0) return;
    const rows = taken.flatMap(({ packed }) => unpack(packed));
    try {
      const placed = this.#store.withConnection(({ appending, transaction }) =>
        transaction(() => appending.append(rows)),
      );
      this.#noteAppends(rows, placed);
      let end = 0;
      for (const { packed, resolve } of taken) {
        const start = end;
        end += packed.rows.length;
        resolve({
          sequences: placed.sequences.slice(start, end),
          fingerprints: placed.fingerprints.slice(start, end),
        });
      }
    } catch (error) {
      for (const { reject } of taken) reject(error);
    }
  }

  #noteAppends(rows: readonly UnpackedRow[], { sequences }: Placed): void {
    const heads = new Map<string, number>();
    for (const [index, sequence] of sequences.entries()) {
      const tenant = rows[index]?.tenant;
      if (tenant !== undefined && typeof sequence === 'number' && sequence > 0) heads.set(tenant, sequence);
    }
    for (const [tenant, head] of heads) this.#recentAppends.add(tenant, head);
  }

  #take(): PendingBatch[] {
    let deliveries = 0;
    const end = this.#pending.findIndex(({ packed }) => {
      deliveries += packed.rows.length;
      return deliveries >= MAX_COMMIT;
    });
    return this.#pending.splice(0, end === -1 ? this.#pending.length : end + 1);
  }
}
