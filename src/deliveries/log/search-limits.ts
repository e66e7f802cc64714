import { LogBusyError, ReadAbortedError, SearchSpentError } from './errors.ts';
import type { DeliveryLog, DeliveryPage, DeliveryRange, ReadOptions, StoredDelivery } from './log.ts';

type Limits = {
  /** Index entries and deliveries that the filters of one operation may look at. */
  readonly maxScanned: number;
  /** Milliseconds that one operation may wait for the log in all. */
  readonly maxMs: number;
  /** Searches of one client that may be under way at a time; an operation's are made one after another. */
  readonly maxEach: number;
};

const LIMITS: Limits = {
  /** About a second's work. */
  maxScanned: 500_000,
  /** Less than a stopping gateway gives what runs. */
  maxMs: 4000,
  maxEach: 250,
};

/** The searches of all clients that are under way, and what bounds them. */
export class SearchLimiter {
  readonly limits: Limits;
  readonly #underWay = new Map<string, number>();

  constructor(limits: Partial<Limits> = {}) {
    this.limits = { ...LIMITS, ...limits };
  }

  /** Counts a search. Throws LogBusyError when the client has too many. Call the returned function when it ends. */
  begin(client: string): () => void {
    const { maxEach } = this.limits;
    const count = this.#underWay.get(client) ?? 0;
    if (count >= maxEach)
      throw new LogBusyError(
        `Expected at most ${maxEach} searches of deliveries at a time, got ${maxEach + 1}.`,
      );
    this.#underWay.set(client, count + 1);
    return () => {
      const left = (this.#underWay.get(client) ?? 1) - 1;
      if (left > 0) this.#underWay.set(client, left);
      else this.#underWay.delete(client);
    };
  }
}

type Parts = {
  readonly log: DeliveryLog;
  readonly tenant: string;
  /** The client that sent the operation. Clients take turns. */
  readonly client: string;
  /** Aborts when no client waits for the operation any more. */
  readonly clientSignal: AbortSignal | null;
  readonly searchLimiter: SearchLimiter;
};

/** Reads of one tenant's log. */
export type LogReads = {
  readonly read: (range: DeliveryRange) => Promise<DeliveryPage>;
  readonly get: (cursor: string) => Promise<StoredDelivery | null>;
};

/**
 * One operation's reads of its tenant's log. They reject with SearchSpentError when the filters have used `maxScanned` up
 * and the page is empty. They reject with LogBusyError when the log takes too long, or the client has too many searches.
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

  const inTime = async <Answer>(task: (options: ReadOptions) => Promise<Answer>): Promise<Answer> => {
    const begunAt = performance.now();
    const leftMs = maxMs - waitedMs;
    const controller = new AbortController();
    const abortRead = () => controller.abort();
    const timer = setTimeout(abortRead, Math.max(0, leftMs));
    // AbortSignal.any refuses the signals of some requests.
    clientSignal?.addEventListener('abort', abortRead, { once: true });
    if (leftMs <= 0 || clientSignal?.aborted) abortRead();
    try {
      return await task({ caller: client, signal: controller.signal });
    } catch (error) {
      throw error instanceof ReadAbortedError ? new LogBusyError(tooLate(maxMs)) : error;
    } finally {
      waitedMs += performance.now() - begunAt;
      clearTimeout(timer);
      clientSignal?.removeEventListener('abort', abortRead);
    }
  };

  const search = async (range: DeliveryRange): Promise<DeliveryPage> => {
    if (scansLeft <= 0) throw new SearchSpentError(maxScanned, range.after ?? null);
    const end = searchLimiter.begin(client);
    try {
      const page = await inTime((options) => log.read(tenant, { ...range, maxScanned: scansLeft }, options));
      scansLeft -= page.scanned;
      if (page.isCut && page.deliveries.length === 0) throw new SearchSpentError(maxScanned, page.scannedTo);
      return page;
    } finally {
      end();
    }
  };

  return {
    read: (range) =>
      isSearch(range) ? search(range) : inTime((options) => log.read(tenant, range, options)),
    get: (cursor) => inTime((options) => log.get(tenant, cursor, options)),
  };
};

const isSearch = ({ filter = {} }: DeliveryRange): boolean =>
  Object.values(filter).some((wanted) => wanted !== undefined);

const tooLate = (maxMs: number) =>
  `Expected the log of deliveries to answer an operation within ${maxMs} ms, got more to read than that leaves time for.`;
