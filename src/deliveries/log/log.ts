import type { Clock } from '../../lib/deadlines.ts';
import type { Trace } from '../../lib/trace.ts';
import type { RetentionObserver } from './retention.ts';

/**
 * The delivery log: append-only, one sequence per tenant, numbered 1, 2, 3, … without a gap. A number is never reused, even
 * after everything was trimmed. The log does not interpret bodies.
 */

export type DeliveryType = 'transactions' | 'activities' | 'balances';

export const DELIVERY_TYPES: readonly DeliveryType[] = ['transactions', 'activities', 'balances'];

/** A delivery to be stored. */
export type NewDelivery = {
  readonly tenant: string;
  /** A lower-case UUID; null when upstream named no webhook. */
  readonly webhookId: string | null;
  /** Null when neither the headers nor the body name a known type. */
  readonly type: DeliveryType | null;
  readonly chainId: number | null;
  /** In milliseconds since 1970, like all times here. */
  readonly receivedAt: number;
  readonly dispatchedAt: number | null;
  /** 0 for the first attempt. */
  readonly attempt: number | null;
  /** The raw bytes. Reading returns them unchanged. */
  readonly body: Uint8Array;
  /** The addresses that the events concern, for the filter: `0x` and 40 hex digits in lower case. */
  readonly addresses: readonly string[];
  /** The subscribed address, one of `addresses`; null when it is unknown or each event names its own. */
  readonly subscribedAddress: string | null;
};

export type StoredDelivery = NewDelivery & {
  readonly sequence: number;
  /** The delivery's cursor: reading after it continues with the next delivery. */
  readonly cursor: string;
};

/** A stored delivery's position. A duplicate (same tenant, webhook, chain and body) gets the position of the first one. */
export type AppendResult = {
  readonly cursor: string;
  readonly sequence: number;
  readonly duplicate: boolean;
};

/** A delivery must match every field that is given. A list matches by any of its values; an empty list matches nothing. */
export type DeliveryFilter = {
  readonly webhookIds?: readonly string[] | undefined;
  readonly types?: readonly DeliveryType[] | undefined;
  readonly chainIds?: readonly number[] | undefined;
  /** Lists of addresses (`0x` and 40 hex digits, lower case). A delivery concerns at least one address of each list. */
  readonly addresses?: readonly (readonly string[])[] | undefined;
};

export type DeliveryRange = {
  /** The range begins after this cursor. Default: at the oldest delivery that is retained. */
  readonly after?: string | undefined;
  /** The range ends before this cursor. Default: at the head. */
  readonly before?: string | undefined;
  /** The page's maximum number of deliveries. */
  readonly limit: number;
  /** The page ends early once its bodies exceed this many bytes, but has at least one delivery. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** The end of the range from which the page is taken. Default: `oldest`. */
  readonly take?: 'oldest' | 'newest' | undefined;
  readonly filter?: DeliveryFilter | undefined;
  /**
   * About how many index entries and deliveries a filter may scan. Then the page ends early, with the deliveries found so
   * far. Default: no limit.
   */
  readonly maxScanned?: number | undefined;
};

/** How a read is scheduled and cancelled. */
export type ReadOptions = {
  /** The log serves concurrent callers in turn, so that none starves. Default: the tenant. */
  readonly caller?: string | undefined;
  /** Cancels the read, which then rejects with ReadAbortedError. */
  readonly signal?: AbortSignal | undefined;
};

export type DeliveryPage<Delivery = StoredDelivery> = {
  /** In the log's order, even if the newest were taken. */
  readonly deliveries: readonly Delivery[];
  /** Whether the range has more matching deliveries; when `isCut`, whether it may have more. */
  readonly hasMore: boolean;
  /** Whether the page ended early because `maxScanned` was used up. */
  readonly isCut: boolean;
  /** The number of index entries and deliveries that were scanned; 0 without a filter. */
  readonly scanned: number;
  /**
   * The cursor up to which the range was searched. The next page continues from it: as `after` when the oldest were taken, as
   * `before` when the newest were. It skips what does not match. It equals `head` when nothing follows the oldest.
   */
  readonly scannedTo: string;
  /** The head of the log when the page was read. */
  readonly head: string;
};

export type Changes = {
  /** Identifies this answer: the next call passes it. */
  readonly mark: string;
  /** The newest sequence number of each tenant whose log has grown; null when the log can't compare with the given mark. */
  readonly heads: ReadonlyMap<string, number> | null;
};

/** What a log holds, of all tenants. */
export type LogSize = {
  /** The bytes of its files, or of its memory in Redis; null if the store does not tell. */
  readonly bytes: number | null;
  readonly deliveries: number;
  /** The tenants that have a delivery in it. */
  readonly tenants: number;
  /** When the oldest delivery was received, or earlier while deliveries are being dropped; null in an empty log. */
  readonly oldestAt: number | null;
};

/** Called with the tenants whose logs have grown; null stands for all tenants. */
export type AppendListener = (tenants: Iterable<string> | null) => void;

/**
 * A durable log of deliveries. Every call rejects with LogUnavailableError while the store fails; a later call may
 * succeed. After `close`, every call rejects with LogClosedError.
 */
export type DeliveryLog = {
  /**
   * Stores a batch. Resolves once all of it is durable, with one result per delivery, in the batch's order. Rejects with
   * UnstorableError when one of them can't be stored; the others are stored, and are duplicates when they are sent again.
   * `trace` is that of the request that has brought it, for the log's observer.
   */
  append(batch: readonly NewDelivery[], trace?: Trace): Promise<readonly AppendResult[]>;
  /**
   * Reads a page of a tenant's log. Rejects with InvalidCursorError or CursorExpiredError when the log can't continue from
   * a cursor of the range. A page after the head is empty.
   */
  read(tenant: string, range: DeliveryRange, options?: ReadOptions): Promise<DeliveryPage>;
  /** Reads one delivery by its cursor; null when this tenant's log never had it or has trimmed it. */
  get(tenant: string, cursor: string, options?: ReadOptions): Promise<StoredDelivery | null>;
  /**
   * The cursor of the newest delivery as of the call, not of its answer. In an empty log it is the cursor before the first
   * delivery.
   */
  head(tenant: string): Promise<string>;
  /**
   * Resolves if the log can be written and read now: it stores a delivery, reads it and drops it, all on a key of its own, so
   * that no tenant has it. It does not queue behind other reads.
   */
  check(): Promise<void>;
  /**
   * The tenants whose logs have grown since `mark`, which is from an earlier answer or null for the first call. A safety net
   * for lost `onAppend` calls. The log can't compare with a mark that is null, too old or from before it was reopened.
   */
  changed(mark: string | null): Promise<Changes>;
  /** Measures the log. It may take long where there are many tenants. */
  size(): Promise<LogSize>;
  /** Drops what is beyond the retention. The log also does so on its own schedule. */
  trim(): Promise<void>;
  /**
   * Calls the listener after each commit. A call is a hint: it may come late, twice or without a change. It also comes
   * when the log was closed or recovered, for all tenants. The returned function removes the listener.
   */
  onAppend(listener: AppendListener): () => void;
  /** Commits what was appended, then releases the store. */
  close(): Promise<void>;
};

/** What reads deliveries. */
export type DeliveryReads = Pick<DeliveryLog, 'read' | 'get' | 'head'>;

/** What hears that the log has grown. */
export type LogGrowth = Pick<DeliveryLog, 'changed' | 'onAppend'>;

/** How a log is opened, whatever its store. */
export type LogOptions = {
  /** Deliveries older than this are dropped. */
  readonly retentionHours: number;
  /** Each tenant keeps at most this many deliveries, the newest. */
  readonly retentionCount: number;
  /** All tenants together keep about this many, but each at least its newest. Default: no limit. */
  readonly retentionTotal?: number | null | undefined;
  readonly retentionObserver?: RetentionObserver | undefined;
  /** Default: the clock of the store, which is the system's for a log in a folder. */
  readonly now?: (() => number) | undefined;
  /** Default: the clock of this process. */
  readonly monotonic?: Clock | undefined;
  /** Bytes of bodies that may wait to be stored. An append beyond it rejects at once. Default: 64 MB. */
  readonly maxWaitingBytes?: number | undefined;
};

/** The terms by which an index finds deliveries: an address is its own term. */
const webhookTerm = (id: string) => `webhook ${id}`;
const typeTerm = (type: string) => `type ${type}`;
const chainTerm = (id: number) => `chain ${id}`;

/** Returns a list of terms for each field of the filter. A delivery matches if it has at least one term of each list. */
export const queryTerms = ({
  addresses = [],
  webhookIds,
  chainIds,
  types,
}: DeliveryFilter): (readonly string[])[] => {
  const lists = [...addresses, webhookIds?.map(webhookTerm), chainIds?.map(chainTerm), types?.map(typeTerm)];
  return lists.filter((list) => list !== undefined);
};

export const isFiltering = (filter: DeliveryFilter): boolean => queryTerms(filter).length > 0;

/** What a filter can ask of a delivery. */
export type Indexed = Pick<NewDelivery, 'webhookId' | 'chainId' | 'addresses'> & {
  readonly type: string | null;
};

/** Returns the terms of a delivery, each once. */
export const termsOf = ({ webhookId, type, chainId, addresses }: Indexed): Set<string> => {
  const terms = new Set(addresses);
  if (webhookId !== null) terms.add(webhookTerm(webhookId));
  if (type !== null) terms.add(typeTerm(type));
  if (chainId !== null) terms.add(chainTerm(chainId));
  return terms;
};

/** Whether a delivery with these terms has at least one of each list of the filter. */
export const matchesTerms = (filter: DeliveryFilter, terms: ReadonlySet<string> = new Set()): boolean =>
  queryTerms(filter).every((list) => list.some((term) => terms.has(term)));

export const matches = (filter: DeliveryFilter, delivery: Indexed): boolean =>
  matchesTerms(filter, termsOf(delivery));
