import { createKeyedQueue } from '../../lib/tasks.ts';
import { BudgetExceededError, LogBusyError, ReadAbortedError, SearchLimitExceededError } from './errors.ts';
import type { DeliveryPage, DeliveryRange, DeliveryReads, ReadOptions, StoredDelivery } from './log.ts';

type Limits = {
  /** The index entries and deliveries that the filters of one operation may scan. */
  readonly maxScanned: number;
  /** The total time that one operation may wait for the log, in milliseconds. */
  readonly maxMs: number;
  /** One client's concurrent searches. The searches of one operation run one after another. */
  readonly maxPerClient: number;
};

const LIMITS: Limits = {
  /** About one second of work. */
  maxScanned: 500_000,
  /** Less than a graceful shutdown waits for running operations. */
  maxMs: 4000,
  maxPerClient: 250,
};

/** Limits the concurrent searches of each client. A search is a read with a filter. */
export class SearchLimiter {
  readonly limits: Limits;
  readonly #running = new Map<string, number>();

  constructor(limits: Partial<Limits> = {}) {
    this.limits = { ...LIMITS, ...limits };
  }

  /** Counts a search; the returned function ends it. Throws LogBusyError when the client has too many. */
  begin(client: string): () => void {
    const { maxPerClient } = this.limits;
    const count = this.#running.get(client) ?? 0;
    if (count >= maxPerClient)
      throw new LogBusyError(
        `Expected at most ${maxPerClient} concurrent searches of deliveries, got ${count + 1}.`,
      );
    this.#running.set(client, count + 1);
    return () => {
      const others = (this.#running.get(client) ?? 1) - 1;
      if (others > 0) this.#running.set(client, others);
      else this.#running.delete(client);
    };
  }
}

type Parts = {
  readonly log: DeliveryReads;
  readonly tenant: string;
  /** The client that sent the operation. The log serves concurrent clients in turn. */
  readonly client: string;
  /** Aborts when no client waits for the operation any longer. */
  readonly clientSignal: AbortSignal | null;
  readonly searchLimiter: SearchLimiter;
};

/** Reads of one tenant's log. */
type LogReads = {
  readonly read: (range: DeliveryRange) => Promise<DeliveryPage>;
  readonly get: (cursor: string) => Promise<StoredDelivery | null>;
};

/**
 * Limits one operation's reads of its tenant's log. A read rejects with SearchLimitExceededError when the operation's filters have
 * used up `maxScanned` and the page is empty. It rejects with LogBusyError when the log takes longer than `maxMs`, or the
 * client has too many concurrent searches.
 */
export const createOperationReads = ({
  log,
  tenant,
  client,
  clientSignal,
  searchLimiter,
}: Parts): LogReads => {
  const { maxScanned, maxMs } = searchLimiter.limits;
  let scansLeft = maxScanned;
  let waitedMs = 0;

  const withinDeadline = async <Answer>(task: (options: ReadOptions) => Promise<Answer>): Promise<Answer> => {
    const startedAt = performance.now();
    const leftMs = maxMs - waitedMs;
    const controller = new AbortController();
    const abortRead = () => controller.abort();
    const timer = setTimeout(abortRead, Math.max(0, leftMs));
    // AbortSignal.any does not accept the signals of some requests.
    clientSignal?.addEventListener('abort', abortRead, { once: true });
    if (leftMs <= 0 || clientSignal?.aborted) abortRead();
    try {
      return await task({ caller: client, signal: controller.signal });
    } catch (error) {
      throw error instanceof ReadAbortedError ? new LogBusyError(timedOut(maxMs)) : error;
    } finally {
      waitedMs += performance.now() - startedAt;
      clearTimeout(timer);
      clientSignal?.removeEventListener('abort', abortRead);
    }
  };

  const search = async (range: DeliveryRange): Promise<DeliveryPage> => {
    if (scansLeft <= 0) throw new SearchLimitExceededError(maxScanned, range.after ?? null);
    const end = searchLimiter.begin(client);
    try {
      const page = await withinDeadline((options) =>
        log.read(tenant, { ...range, maxScanned: scansLeft }, options),
      );
      scansLeft -= page.scanned;
      if (page.isCut && page.deliveries.length === 0)
        throw new SearchLimitExceededError(maxScanned, page.scannedTo);
      return page;
    } finally {
      end();
    }
  };

  return {
    read: (range) =>
      isSearch(range) ? search(range) : withinDeadline((options) => log.read(tenant, range, options)),
    get: (cursor) => withinDeadline((options) => log.get(tenant, cursor, options)),
  };
};

const isSearch = ({ filter = {} }: DeliveryRange): boolean =>
  Object.values(filter).some((wanted) => wanted !== undefined);

const timedOut = (maxMs: number) =>
  `Expected the log of deliveries to answer the operation within ${maxMs} ms, got no answer by then.`;

/** The bytes of bodies that one operation may still read and return. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Negative when the last read exceeded the budget. */
  get left(): number {
    return this.#left;
  }

  /** Deducts bytes that were already read, even if fewer are left. */
  charge(bytes: number): void {
    this.#left -= bytes;
  }

  /** Deducts the bytes if as many are left; otherwise deducts nothing and returns false. Zero bytes always succeed. */
  tryCharge(bytes: number): boolean {
    if (bytes <= 0) return true;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/**
 * Limits the reads of one operation to the budget. Reads run one after another. A page ends early before it exceeds the rest
 * of the budget or `maxPageBytes`, but has at least one delivery. Once the budget is used up, reads reject with
 * BudgetExceededError.
 */
export const limitReads = ({ read, get }: LogReads, budget: ByteBudget, maxPageBytes: number): LogReads => {
  const queue = createKeyedQueue();
  const inOrder = <Answer>(cursor: string | null, task: () => Promise<Answer>): Promise<Answer> =>
    queue('reads', async () => {
      if (budget.left <= 0) throw new BudgetExceededError(cursor);
      return task();
    });
  return {
    read: (range) =>
      inOrder(null, async () => {
        const maxBytes = Math.min(budget.left, maxPageBytes, range.maxBytes ?? maxPageBytes);
        const page = await read({ ...range, maxBytes });
        for (const { body } of page.deliveries) budget.charge(body.byteLength);
        return page;
      }),
    get: (cursor) =>
      inOrder(cursor, async () => {
        const delivery = await get(cursor);
        if (delivery !== null) budget.charge(delivery.body.byteLength);
        return delivery;
      }),
  };
};
