import type { Stored } from '../log/appends.ts';
import { UnstorableError } from '../log/errors.ts';
import type { AppendResult, NewDelivery } from '../log/log.ts';
import type { LogThreads } from './threads/log-threads.ts';
import { type Placement, packDeliveries, unpackPlacements } from './threads/packing.ts';

/**
 * Batches in one message to the writer. Smaller messages cost more: each is sent, and wakes the thread. Bigger messages would
 * make the two threads work in turn, although they can work at the same time.
 */
const MAX_MESSAGE_BATCHES = 32;

type ResultOf = (delivery: NewDelivery, stored: Stored) => AppendResult;

/** Is called with the deliveries of one message and their placements, both in the same order. */
type OnPlaced = (deliveries: readonly NewDelivery[], placements: readonly Placement[]) => void;

type PendingBatch = {
  readonly batch: readonly NewDelivery[];
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Sends batches of deliveries to the writer thread: those of one turn of the event loop as one message. */
export class SqliteAppendQueue {
  readonly #threads: LogThreads;
  readonly #resultOf: ResultOf;
  readonly #onPlaced: OnPlaced;
  #pending: PendingBatch[] = [];

  /** `onPlaced` runs before the callers of `append` continue. */
  constructor(threads: LogThreads, resultOf: ResultOf, onPlaced: OnPlaced) {
    this.#threads = threads;
    this.#resultOf = resultOf;
    this.#onPlaced = onPlaced;
  }

  /**
   * Resolves once the batch is durable. Rejects with UnstorableError when one of its deliveries can't be stored; the others
   * are stored.
   */
  append(batch: readonly NewDelivery[]): Promise<readonly AppendResult[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly AppendResult[]>();
    // The first of many batches are sent at once: the writer stores them while the gateway still reads the others.
    const count = this.#pending.push({ batch, resolve, reject });
    if (count === 1) setImmediate(this.flush);
    else if (count === MAX_MESSAGE_BATCHES) this.flush();
    return promise;
  }

  /** Sends the batches that wait. */
  readonly flush = (): void => {
    const batches = this.#pending;
    this.#pending = [];
    if (batches.length === 0) return;
    const deliveries = batches.flatMap(({ batch }) => batch);
    const packed = packDeliveries(deliveries);
    this.#threads.write('append', packed, [packed.bytes.buffer]).then(
      (result) => {
        const placements = unpackPlacements(result);
        this.#settle(batches, placements);
        this.#onPlaced(deliveries, placements);
      },
      (error: unknown) => {
        for (const { reject } of batches) reject(error);
      },
    );
  };

  #settle(batches: readonly PendingBatch[], placements: readonly Placement[]): void {
    let next = 0;
    for (const { batch, resolve, reject } of batches) {
      const results: AppendResult[] = [];
      let refusal: string | null = null;
      for (const delivery of batch) {
        const placement = placements[next];
        next += 1;
        if (placement === undefined) continue;
        if ('refusal' in placement) refusal ??= placement.refusal;
        else results.push(this.#resultOf(delivery, placement));
      }
      if (refusal === null) resolve(results);
      else reject(new UnstorableError(refusal));
    }
  }
}
