import { LRUCache } from 'lru-cache';
import { KnownAddress } from './known-address.ts';

/** A webhook, among those that callers of the same `sharing` see: see `Webhooks`. */
export type WebhookKey = { readonly sharing: string; readonly webhookId: string };

/** Asks the service for a webhook's one address: null when it holds none or several. Rejects when it can't be told. */
export type AskAddress = (webhookId: string) => Promise<string | null>;

type Options = {
  /** Null where the gateway has no key to ask with: then only what callers change and read tells. */
  readonly ask: AskAddress | null;
  /** Milliseconds since 1970; default: the system's clock. */
  readonly now?: () => number;
};

type Entry = {
  readonly known: KnownAddress;
  /** While the service is being asked: settles with its answer, or once that has taken too long. */
  asking: Promise<void> | null;
  failedAt: number;
};

/** No other way tells of a change that was made without this gateway. */
const ASK_EVERY_MS = 5 * 60_000;
const ASK_AGAIN_MS = 30_000;
/** A delivery must be answered within a second. */
const MAX_WAIT_MS = 500;
const MAX_ASKING = 1000;
const MAX_WEBHOOKS = 20_000;

/** Knows whose events a webhook delivers where its list holds a single address. */
export class SubscribedAddresses {
  readonly #ask: AskAddress | null;
  readonly #now: () => number;
  readonly #entries: LRUCache<string, Entry>;
  #asking = 0;

  constructor({ ask, now = Date.now }: Options) {
    this.#ask = ask;
    this.#now = now;
    this.#entries = new LRUCache<string, Entry>({
      max: MAX_WEBHOOKS,
      memoMethod: (): Entry => ({
        known: new KnownAddress(now),
        asking: null,
        failedAt: Number.NEGATIVE_INFINITY,
      }),
    });
  }

  /** What callers change and read of the list is to be told to this. */
  of({ sharing, webhookId }: WebhookKey): KnownAddress {
    return this.#entry({ sharing, webhookId }).known;
  }

  /**
   * Whose the webhook's events are that happened at `happenedAt()`, in milliseconds since 1970; null when nobody can
   * know. Never rejects, and resolves within half a second, whatever the service does.
   */
  async find(webhook: WebhookKey, happenedAt: () => number | null): Promise<string | null> {
    const entry = this.#entry(webhook);
    if (this.#isDue(entry)) await this.#refresh(webhook.webhookId, entry);
    return entry.known.at(happenedAt);
  }

  #isDue({ known, failedAt }: Entry): boolean {
    const now = this.#now();
    return this.#ask !== null && now - known.knownAt > ASK_EVERY_MS && now - failedAt > ASK_AGAIN_MS;
  }

  /** One question at a time. All that come meanwhile share its answer, and its half second. */
  async #refresh(webhookId: string, entry: Entry): Promise<void> {
    if (entry.asking === null && this.#asking < MAX_ASKING) {
      const answer = this.#read(webhookId, entry).finally(() => {
        entry.asking = null;
      });
      entry.asking = atMost(MAX_WAIT_MS, answer);
    }
    await entry.asking;
  }

  async #read(webhookId: string, entry: Entry): Promise<void> {
    const learn = entry.known.reading();
    this.#asking += 1;
    try {
      const address = await this.#ask?.(webhookId);
      if (address !== undefined) learn(address);
    } catch {
      entry.failedAt = this.#now();
    } finally {
      this.#asking -= 1;
    }
  }

  #entry({ sharing, webhookId }: WebhookKey): Entry {
    return this.#entries.memo(`${sharing}/${webhookId}`);
  }
}

const atMost = async (ms: number, task: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([task, late]);
  clearTimeout(timer);
};
