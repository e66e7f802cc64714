import { nextTick } from 'node:process';
import { ReadAbortedError } from '../log/errors.ts';
import {
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryRange,
  type DeliveryReads,
  matchesTerms,
  termsOf,
} from '../log/log.ts';

type PageRange = DeliveryRange & { readonly after: string; readonly filter: DeliveryFilter };

type WaitingRead = {
  readonly range: PageRange;
  readonly signal: AbortSignal;
  readonly resolve: (page: DeliveryPage) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Merges the reads of feeds that wait at one place of a tenant's log when it grows: what follows is read once, without a
 * filter, and each filter is applied in memory. All ranges must have the same limits.
 */
export class MergedReads {
  readonly #log: Pick<DeliveryReads, 'read'>;
  /** The reads of this turn of the event loop, by tenant and cursor. */
  readonly #waiting = new Map<string, WaitingRead[]>();

  #farReads = 0;

  constructor(log: Pick<DeliveryReads, 'read'>) {
    this.#log = log;
  }

  /** Whether a page is being read for a feed that is far behind. */
  get isReading(): boolean {
    return this.#farReads > 0;
  }

  /** Reads a page for one feed, which is far behind. */
  async readFar(tenant: string, range: PageRange, signal: AbortSignal): Promise<DeliveryPage> {
    this.#farReads += 1;
    try {
      return await this.#log.read(tenant, range, { signal });
    } finally {
      this.#farReads -= 1;
    }
  }

  /**
   * Reads a page, as the log does. It may be shorter than the log's own, but it never leaves out a match before `scannedTo`.
   */
  read(tenant: string, range: PageRange, signal: AbortSignal): Promise<DeliveryPage> {
    const { promise, resolve, reject } = Promise.withResolvers<DeliveryPage>();
    const key = `${tenant} ${range.after}`;
    const waiting = this.#waiting.get(key);
    const read = { range, signal, resolve, reject };
    if (waiting) waiting.push(read);
    else {
      const first = [read];
      this.#waiting.set(key, first);
      nextTick(() => {
        this.#waiting.delete(key);
        void this.#answer(tenant, first);
      });
    }
    return promise;
  }

  async #answer(tenant: string, reads: readonly WaitingRead[]): Promise<void> {
    const [first] = reads;
    if (first === undefined) return;
    try {
      if (reads.length === 1) {
        const { range, signal, resolve } = first;
        resolve(await this.#log.read(tenant, range, { signal }));
        return;
      }
      // It goes on when one of the feeds is closed: the others need it.
      const page = await this.#log.read(tenant, { ...first.range, filter: {} });
      const terms = page.deliveries.map(termsOf);
      for (const { range, signal, resolve, reject } of reads) {
        const matches = page.deliveries.filter((_one, index) => matchesTerms(range.filter, terms[index]));
        if (signal.aborted) reject(new ReadAbortedError());
        else resolve({ ...page, deliveries: matches });
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }
}
