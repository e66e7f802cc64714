/**
 * The delivery log: append-only, one sequence a tenant, numbered 1, 2, 3, … without a hole. A number is never given
 * twice, also after everything was trimmed. Knows nothing of what a delivery means.
 */

export type DeliveryType = 'transactions' | 'activities' | 'balances';

export const DELIVERY_TYPES: readonly DeliveryType[] = ['transactions', 'activities', 'balances'];

/** What arrived, as it is to be stored. */
export type NewDelivery = {
  readonly tenant: string;
  /** A lower-case UUID; null when the service named no webhook. */
  readonly webhookId: string | null;
  /** Null when neither header nor body says one that is known. */
  readonly type: DeliveryType | null;
  readonly chainId: number | null;
  /** Milliseconds since 1970, as are all times here. */
  readonly receivedAt: number;
  readonly dispatchedAt: number | null;
  /** 0 for the first attempt. */
  readonly attempt: number | null;
  /** The raw bytes, as they are to be given back. */
  readonly body: Uint8Array;
  /** `0x` and 40 hex digits, lower case; those that the delivery's events concern, for the filter. */
  readonly addresses: readonly string[];
  /** The subscribed address, one of `addresses`; null when the events name it themselves, or it is not known. */
  readonly subscribedAddress: string | null;
};

export type StoredDelivery = NewDelivery & {
  readonly sequence: number;
  /** The delivery's place: reading after it goes on with the next. */
  readonly cursor: string;
};

/** Where a delivery is stored. A duplicate (same tenant, webhook and body) has the place of the first one. */
export type AppendResult = {
  readonly cursor: string;
  readonly sequence: number;
  readonly duplicate: boolean;
};

/** All that is given must match; a list matches by any of its values, so an empty one matches nothing. */
export type DeliveryFilter = {
  readonly webhookIds?: readonly string[] | undefined;
  readonly types?: readonly DeliveryType[] | undefined;
  readonly chainIds?: readonly number[] | undefined;
  /** `0x` and 40 hex digits, lower case. */
  readonly address?: string | undefined;
};

export type DeliveryRange = {
  /** Only what is stored after this cursor. */
  readonly after?: string | undefined;
  /** Only what is stored before this cursor. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** Bodies end a page early, after at least one delivery, when they come to more than this. */
  readonly maxBytes?: number | undefined;
  /** Which end of the range the page is cut from. Default: `oldest`. */
  readonly take?: 'oldest' | 'newest' | undefined;
  readonly filter?: DeliveryFilter | undefined;
  /**
   * About how many index entries and deliveries a filter may look at: then the page ends early, with what was found so
   * far. Default: no limit.
   */
  readonly maxScanned?: number | undefined;
};

/** How a read is scheduled and cancelled. */
export type ReadOptions = {
  /** Callers that read at the same time take turns. Default: the tenant. */
  readonly caller?: string | undefined;
  /** Once it aborts, the read ends and rejects with ReadAbortedError. */
  readonly signal?: AbortSignal | undefined;
};

export type DeliveryPage = {
  /** In the log's order, whichever end they were taken from. */
  readonly deliveries: readonly StoredDelivery[];
  /** Whether the range holds more that match, or, when the page is cut, that may match. */
  readonly hasMore: boolean;
  /** Whether `maxScanned` were spent before the whole range was looked through. */
  readonly isCut: boolean;
  /** Index entries and deliveries that were looked at; 0 without a filter. */
  readonly scanned: number;
  /**
   * How far the log was looked through: what does not match is not looked at again by who goes on from here, as
   * `after` when the oldest were taken, as `before` when the newest were. When nothing follows the oldest, it is `head`.
   */
  readonly scannedTo: string;
  /** The end of the log when the page was read. */
  readonly head: string;
};

export type Changes = {
  readonly mark: string;
  /** The newest sequence of each tenant whose log has grown. */
  readonly heads: ReadonlyMap<string, number> | null;
};

/**
 * Whatever fails in the store rejects with LogUnavailableError, and a later call may well succeed.
 */
export type DeliveryLog = {
  /**
   * Resolves once all of the batch is durable, with one answer for each, in the batch's order. Rejects with
   * UnstorableError when one of them can't be stored. The others are stored, and are duplicates when they are sent again.
   */
  append(batch: readonly NewDelivery[]): Promise<readonly AppendResult[]>;
  /**
   * Rejects with InvalidCursorError or CursorExpiredError for a cursor that can't be gone on from. Reading after the
   * head is fine, and empty.
   */
  read(tenant: string, range: DeliveryRange, options?: ReadOptions): Promise<DeliveryPage>;
  /** One delivery by its cursor; null when this tenant's log does not hold it (any more). */
  get(tenant: string, cursor: string, options?: ReadOptions): Promise<StoredDelivery | null>;
  /** The cursor of the newest delivery, or the place before the first one. As of the call, not of its answer. */
  head(tenant: string): Promise<string>;
  /** Resolves when the log can be read now, and rejects when it can't. It is not queued behind other reads. */
  probe(): Promise<void>;
  /**
   * The tenants whose logs have grown since `mark`, from an earlier answer: a safety net for lost wake-ups. `heads` is null
   * when `mark` is null, too old or from an earlier writer.
   */
  changed(mark: string | null): Promise<Changes>;
  /** Drops what is beyond the retention. The log does so by itself, too. */
  trim(): Promise<void>;
  /** Calls back after each commit that added to the tenant's log. A hint only: it may come late, twice or for nothing. */
  onAppend(tenant: string, listener: () => void): () => void;
  /** Commits what was appended, then lets go of the store. Later calls reject with LogUnavailableError. */
  close(): Promise<void>;
};
