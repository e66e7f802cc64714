import { LRUCache } from 'lru-cache';
import { KnownAddress } from './known-address.ts';

/** A webhook. Callers with the same `cachePartition` share their webhooks: see `WebhookSession`. */
export type WebhookKey = { readonly cachePartition: string; readonly webhookId: string };

/** Asks the service for a webhook's only address; null for none or several. Rejects when the service does not answer. */
export type FetchAddress = (webhookId: string) => Promise<string | null>;

type Options = {
  /** Null when the gateway has no key of its own: then addresses are known by callers' changes and reads alone. */
  readonly ask: FetchAddress | null;
  /** Milliseconds since 1970; default: the system's clock. */
  readonly now?: () => number;
};

type Entry = {
  readonly known: KnownAddress;
  /** The question under way: settles with the service's answer, or after MAX_WAIT_MS. */
  fetching: Promise<void> | null;
  failedAt: number;
};

/** Finds changes that were made without this gateway. */
const REFRESH_MS = 5 * 60_000;
const RETRY_MS = 30_000;
/** A delivery must be answered within a second. */
const MAX_WAIT_MS = 500;
const MAX_FETCHING = 1000;
const MAX_WEBHOOKS = 20_000;

/** Knows the subscribed address of webhooks whose list holds a single address. */
export class SubscribedAddresses {
  readonly #fetch: FetchAddress | null;
  readonly #now: () => number;
  readonly #entries: LRUCache<string, Entry>;
  #fetching = 0;

  constructor({ ask, now = Date.now }: Options) {
    this.#fetch = ask;
    this.#now = now;
    this.#entries = new LRUCache<string, Entry>({
      max: MAX_WEBHOOKS,
      memoMethod: (): Entry => ({
        known: new KnownAddress(now),
        fetching: null,
        failedAt: Number.NEGATIVE_INFINITY,
      }),
    });
  }

  /** Report changes and reads of the webhook's list to it. */
  of({ cachePartition, webhookId }: WebhookKey): KnownAddress {
    return this.#entry({ cachePartition, webhookId }).known;
  }

  /**
   * The subscribed address of the webhook's events at the time `happenedAt()`, in milliseconds since 1970; null when it is
   * not known. Never rejects, and resolves within half a second, whatever the service does.
   */
  async find(webhook: WebhookKey, happenedAt: () => number | null): Promise<string | null> {
    const entry = this.#entry(webhook);
    if (this.#isDue(entry)) await this.#refresh(webhook.webhookId, entry);
    return entry.known.at(happenedAt);
  }

  #isDue({ known, failedAt }: Entry): boolean {
    const now = this.#now();
    return this.#fetch !== null && now - known.knownAt > REFRESH_MS && now - failedAt > RETRY_MS;
  }

  /** Asks one question at a time for a webhook. Callers that come meanwhile share its answer, and its half second. */
  async #refresh(webhookId: string, entry: Entry): Promise<void> {
    if (entry.fetching === null && this.#fetching < MAX_FETCHING) {
      const answer = this.#read(webhookId, entry).finally(() => {
        entry.fetching = null;
      });
      entry.fetching = withTimeout(MAX_WAIT_MS, answer);
    }
    await entry.fetching;
  }

  async #read(webhookId: string, entry: Entry): Promise<void> {
    const prime = entry.known.reading();
    this.#fetching += 1;
    try {
      const address = await this.#fetch?.(webhookId);
      if (address !== undefined) prime(address);
    } catch {
      entry.failedAt = this.#now();
    } finally {
      this.#fetching -= 1;
    }
  }

  #entry({ cachePartition, webhookId }: WebhookKey): Entry {
    return this.#entries.memo(`${cachePartition}/${webhookId}`);
  }
}

const withTimeout = async (ms: number, task: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([task, late]);
  clearTimeout(timer);
};
