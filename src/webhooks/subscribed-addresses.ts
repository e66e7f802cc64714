import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/deadlines.ts';
import { atMostEntries } from '../lib/memo.ts';
import type { UpstreamClient } from '../upstream/client/client.ts';
import { createRequestLimiter } from '../upstream/client/limits.ts';
import type { Credential } from '../upstream/client/request.ts';
import { createBackgroundScope, createWebhookClient } from './client.ts';
import { KnownAddress } from './known-address.ts';
import { isRejected } from './unsupported-operation.ts';

/** A webhook. Callers with the same `cachePartition` share their webhooks: see `WebhookSession`. */
export type WebhookKey = { readonly cachePartition: string; readonly webhookId: string };

/**
 * Asks upstream for a webhook's only address. Resolves with null for none or several, and with undefined if upstream refuses
 * to list the addresses. Rejects if upstream does not answer.
 */
export type FetchAddress = (webhookId: string) => Promise<string | null | undefined>;

type Options = {
  /** Null if the gateway has no key of its own: it then knows addresses only from callers' changes and reads. */
  readonly ask: FetchAddress | null;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
};

type Entry = {
  readonly known: KnownAddress;
  /** When the webhook was last changed, by upstream's clock, as a caller of `soleAddress` saw it; null if none did. */
  updatedAt: string | null;
  /** The read under way, which concurrent callers share. Settles with upstream's answer, or after MAX_WAIT_MS. */
  fetching: Promise<void> | null;
  /** When upstream may be asked again after a failure or refusal. */
  retryAt: number;
};

/** The age at which a known address is read again, to find changes that were made without this gateway. */
const REFRESH_MS = 5 * 60_000;
/** The pause after upstream failed. */
const RETRY_MS = 30_000;
/** The gateway must answer a delivery within a second. */
const MAX_WAIT_MS = 500;
const MAX_FETCHING = 1000;
const MAX_WEBHOOKS = 20_000;

/** Finds the subscribed address of webhooks whose list holds a single address. */
export class SubscribedAddresses {
  readonly #fetch: FetchAddress | null;
  readonly #now: () => number;
  readonly #entries: LRUCache<string, Entry>;
  /** The number of reads under way. */
  #fetching = 0;

  constructor({ ask, now = Date.now }: Options) {
    this.#fetch = ask;
    this.#now = now;
    this.#entries = new LRUCache<string, Entry>({
      ...atMostEntries(MAX_WEBHOOKS),
      memoMethod: (): Entry => ({
        known: new KnownAddress(now),
        updatedAt: null,
        fetching: null,
        retryAt: Number.NEGATIVE_INFINITY,
      }),
    });
  }

  /** What is known of the webhook's list. Callers report their changes and reads of the list to it. */
  of({ cachePartition, webhookId }: WebhookKey): KnownAddress {
    return this.#entry({ cachePartition, webhookId }).known;
  }

  /**
   * The webhook's only address; null for none or several. Calls `read` for it, unless it was read within the last five
   * minutes and upstream has just shown the webhook with the same `updatedAt`. With null for `updatedAt`, it always calls
   * `read`. Rejects as `read` does.
   */
  async soleAddress(
    webhook: WebhookKey,
    updatedAt: string | null,
    read: () => Promise<string | null>,
  ): Promise<string | null> {
    const entry = this.#entry(webhook);
    const { known } = entry;
    const isSame = updatedAt !== null && entry.updatedAt === updatedAt;
    if (isSame && this.#now() - known.knownAt <= REFRESH_MS) return known.address;
    const record = known.beginRead();
    const address = await read();
    record(address);
    entry.updatedAt = updatedAt;
    return address;
  }

  /**
   * The subscribed address of the webhook's events at the time `happenedAt()`, in milliseconds since 1970; null when it is
   * not known. Never rejects, and resolves within half a second, whatever upstream does.
   */
  async find(webhook: WebhookKey, happenedAt: () => number | null): Promise<string | null> {
    const entry = this.#entry(webhook);
    if (this.#isDue(entry)) await this.#refresh(webhook.webhookId, entry);
    return entry.known.at(happenedAt);
  }

  #isDue({ known, retryAt }: Entry): boolean {
    const now = this.#now();
    return this.#fetch !== null && now - known.knownAt > REFRESH_MS && now > retryAt;
  }

  /** Single-flight: callers of one webhook share the read under way, and its half second. */
  async #refresh(webhookId: string, entry: Entry): Promise<void> {
    if (entry.fetching === null && this.#fetching < MAX_FETCHING) {
      const read = this.#read(webhookId, entry).finally(() => {
        entry.fetching = null;
      });
      entry.fetching = withTimeout(MAX_WAIT_MS, read);
    }
    await entry.fetching;
  }

  async #read(webhookId: string, entry: Entry): Promise<void> {
    const record = entry.known.beginRead();
    this.#fetching += 1;
    try {
      const address = await this.#fetch?.(webhookId);
      // A refusal says nothing about the list: an address known from a caller's change or read still counts.
      if (address === undefined) entry.retryAt = this.#now() + REFRESH_MS;
      else record(address);
    } catch {
      entry.retryAt = this.#now() + RETRY_MS;
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

/** Longer than a delivery waits, so that a late answer serves the next delivery. */
const TIMEOUT_MS = 5000;

/** The most reads at once, so that deliveries with made-up webhook ids do not hold up operations. */
const CONCURRENCY = 8;

/** Reads a webhook's only address with the gateway's own key, outside of any operation. This costs no compute units. */
export const createAddressLookup = (
  client: UpstreamClient,
  credential: Credential,
  now: Clock,
): FetchAddress => {
  const limiter = createRequestLimiter(CONCURRENCY, null, now);
  return (webhookId) => {
    const scope = createBackgroundScope(credential, TIMEOUT_MS, now);
    return limiter.run(scope.deadline, async () => {
      try {
        return await createWebhookClient({ client, scope }).soleAddress(webhookId);
      } catch (error) {
        // The webhook does not exist, or this deployment does not list addresses.
        if (isRejected(error)) return undefined;
        throw error;
      }
    });
  };
};
