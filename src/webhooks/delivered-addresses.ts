import { LRUCache } from 'lru-cache';
import { type Clock, monotonicClock } from '../lib/deadlines.ts';
import { atMostEntries } from '../lib/memo.ts';
import { filtersOf, type Webhook } from './rest.ts';

/** Upstream's own lists, read with the gateway's key. They cost no compute units. */
export type WebhookLists = {
  /** The types of webhooks whose deliveries tell each change of a list. */
  readonly types: ReadonlySet<string>;
  webhooks(): Promise<readonly Webhook[]>;
  addresses(webhookId: string): Promise<readonly string[]>;
  /** Whether the webhook's URL is a delivery URL of this gateway, of any tenant. */
  deliversHere(webhook: Webhook): boolean;
};

/** A webhook that delivers here every event of its type and addresses. */
type Delivering = {
  readonly type: Webhook['type'];
  readonly updatedAt: string | null;
  /** Null: all chains. */
  readonly chainIds: readonly number[] | null;
  readonly addresses: readonly string[];
  readonly addressesReadAt: number;
  /** When upstream last showed the webhook. */
  readonly shownAt: number;
  /** Since when it is known to deliver these addresses on these chains. */
  readonly since: number;
};

/** How old the lists may be before they are read again. Another gateway, or the service's own site, may change them. */
const REFRESH_MS = 30_000;
/** A webhook that was not listed again within this time does not count. */
const TRUSTED_MS = 3 * REFRESH_MS;
/** The addresses of a webhook that has not changed are read again after this. */
const ADDRESSES_MS = 5 * 60_000;
/** The number of newest pages to fetch before the lists are read: reading them is free, but not worth it for fewer. */
const WORTH_READING = 10;
/** The most webhooks and addresses to remember. */
const MAX_WEBHOOKS = 1000;
const MAX_ADDRESSES = 100_000;

/**
 * Knows the wallets of which every transaction, or other event, is delivered to this gateway: those of an active webhook of the
 * gateway's key, of that type and with no filter except chains. A page of such a wallet is fresh until a delivery names the
 * wallet. Deliveries that the service has to ask for come too late for that.
 *
 * Webhooks that this gateway creates or changes are known from upstream's answers. Others are read from upstream's lists,
 * once deliveries arrive while newest pages are still being fetched. If a newer page shows items that no delivery has
 * named, the wallet does not count for ten minutes, or until a delivery names it.
 */
export class DeliveredAddresses {
  readonly #lists: WebhookLists;
  readonly #now: Clock;
  #webhooks: ReadonlyMap<string, Delivering> = new Map();
  #byAddress: ReadonlyMap<string, readonly Delivering[]> = new Map();
  /** When a read of the lists last began. */
  #begunAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #hasDeliveries = false;
  /** The newest pages that were fetched since the first delivery. */
  #fetches = 0;
  /** The webhooks that were changed since the present read began: what it finds about them may be older. */
  readonly #changed = new Set<string>();
  /** The addresses of webhooks whose settings are being changed. */
  readonly #changing = new LRUCache<string, readonly string[]>({ max: MAX_WEBHOOKS });
  readonly #silent: SilentWallets;

  constructor(lists: WebhookLists, now: Clock = monotonicClock) {
    this.#lists = lists;
    this.#now = now;
    this.#silent = new SilentWallets(now);
  }

  /**
   * For how many milliseconds all events of the type have been delivered here for the address; 0 if they are not. `chains`
   * are ids and tags, comma-separated, as in a request for a list; null for upstream's default.
   */
  deliveredForMs(type: string, address: string, chains: string | null): number {
    const now = this.#now();
    if (this.#fetches >= WORTH_READING && now - this.#begunAt > REFRESH_MS && !this.#isReading)
      void this.#read();
    const webhooks = this.#byAddress.get(address);
    if (!webhooks || this.#silent.has(address)) return 0;
    const times = webhooks.map((webhook) =>
      webhook.type === type && now - webhook.shownAt <= TRUSTED_MS && includesChains(webhook.chainIds, chains)
        ? now - webhook.since
        : 0,
    );
    return Math.max(...times);
  }

  /** A delivery that names these addresses has arrived, here or at another gateway. */
  named(addresses: readonly string[]): void {
    this.#hasDeliveries = true;
    for (const address of addresses) if (this.#byAddress.has(address)) this.#silent.named(address);
  }

  /**
   * The addresses that a delivery of this webhook may concern without naming them: all of the webhook's, unless it names one
   * of them.
   */
  unnamedBy(webhookId: string | null, named: readonly string[]): readonly string[] {
    const webhook = webhookId === null ? undefined : this.#webhooks.get(webhookId);
    if (!webhook) return [];
    const all = new Set(named);
    return webhook.addresses.some((address) => all.has(address)) ? [] : webhook.addresses;
  }

  /** This gateway has created the webhook. */
  created(webhook: Webhook, addresses: readonly string[]): void {
    this.#hasDeliveries = true;
    this.#show(webhook, addresses);
  }

  /** This gateway begins to change the webhook's settings; `changed` or `forget` follows. */
  changing(webhookId: string): void {
    const addresses = this.#webhooks.get(webhookId)?.addresses ?? this.#changing.get(webhookId);
    this.forget(webhookId);
    if (addresses) this.#changing.set(webhookId, addresses);
  }

  /** Upstream has answered a change of the webhook's settings with this. */
  changed(webhook: Webhook): void {
    const addresses = this.#changing.get(webhook.webhookId);
    this.forget(webhook.webhookId);
    if (addresses) this.#show(webhook, addresses);
  }

  /**
   * The webhook does not count until the lists are read again: its addresses change, it is deleted, or a change has failed.
   */
  forget(webhookId: string): void {
    if (this.#isReading) this.#changed.add(webhookId);
    this.#changing.delete(webhookId);
    this.#begunAt = Number.NEGATIVE_INFINITY;
    if (this.#webhooks.has(webhookId))
      this.#keep(new Map([...this.#webhooks].filter(([id]) => id !== webhookId)));
  }

  /** The newest page of a list was requested `ageMs` ago. `identity` is its first item's; null for an empty page. */
  fetched(list: string, address: string, identity: string | null, ageMs: number): void {
    if (this.#hasDeliveries) this.#fetches += 1;
    if (this.#byAddress.has(address)) this.#silent.fetched(list, address, identity, ageMs);
  }

  /** Reads upstream's lists, one request after the other. What can't be read is tried again after REFRESH_MS. */
  async #read(): Promise<void> {
    this.#begunAt = this.#now();
    this.#isReading = true;
    this.#changed.clear();
    try {
      const found = new Map<string, Delivering>();
      let addresses = 0;
      for (const webhook of await this.#lists.webhooks()) {
        if (!this.#delivers(webhook)) continue;
        const delivering = await this.#readAddresses(webhook);
        addresses += delivering.addresses.length;
        if (found.size === MAX_WEBHOOKS || addresses > MAX_ADDRESSES) break;
        found.set(webhook.webhookId, delivering);
      }
      for (const webhookId of this.#changed) {
        const known = this.#webhooks.get(webhookId);
        if (known) found.set(webhookId, known);
        else found.delete(webhookId);
      }
      this.#keep(found);
    } catch {
      // The client's observer has counted and logged it.
    } finally {
      this.#isReading = false;
    }
  }

  async #readAddresses({ webhookId, type, updatedAt, chainIds }: Webhook): Promise<Delivering> {
    const now = this.#now();
    const known = this.#webhooks.get(webhookId);
    const isSame = known !== undefined && known.updatedAt === updatedAt && isEqual(known.chainIds, chainIds);
    if (isSame && now - known.addressesReadAt < ADDRESSES_MS) return { ...known, shownAt: now };
    const addresses = await this.#lists.addresses(webhookId);
    const since = isSame && isEqual(known.addresses, addresses) ? known.since : this.#now();
    return { type, updatedAt, chainIds, addresses, addressesReadAt: now, shownAt: now, since };
  }

  /** Upstream has just shown the webhook. */
  #show(webhook: Webhook, addresses: readonly string[]): void {
    const isFull =
      this.#webhooks.size >= MAX_WEBHOOKS || this.#byAddress.size + addresses.length > MAX_ADDRESSES;
    if (isFull || !this.#delivers(webhook)) return;
    const { webhookId, type, updatedAt, chainIds } = webhook;
    if (this.#isReading) this.#changed.add(webhookId);
    const now = this.#now();
    const shown = { type, updatedAt, chainIds, addresses, addressesReadAt: now, shownAt: now, since: now };
    this.#keep(new Map([...this.#webhooks, [webhookId, shown]]));
  }

  #delivers(webhook: Webhook): boolean {
    const { active, type, polling } = webhook;
    const isComplete = active && filtersOf(webhook).length === 0 && polling === null;
    return isComplete && type !== null && this.#lists.types.has(type) && this.#lists.deliversHere(webhook);
  }

  #keep(webhooks: ReadonlyMap<string, Delivering>): void {
    const byAddress = new Map<string, Delivering[]>();
    for (const webhook of webhooks.values())
      for (const address of webhook.addresses) {
        const others = byAddress.get(address);
        if (others) others.push(webhook);
        else byAddress.set(address, [webhook]);
      }
    this.#webhooks = webhooks;
    this.#byAddress = byAddress;
  }
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const includesChains = (delivered: readonly number[] | null, asked: string | null): boolean => {
  if (delivered === null) return true;
  return asked?.split(',').every((id) => /^\d+$/.test(id) && delivered.includes(Number(id))) ?? false;
};

/** How long a wallet counts as silent, unless a delivery names it. */
const SILENT_MS = 10 * 60_000;
const MAX_LISTS = 10_000;

/**
 * Finds wallets whose deliveries don't arrive although they should: a newer page shows an item that no delivery has named.
 */
class SilentWallets {
  readonly #now: Clock;
  /** When a delivery last named the address. */
  readonly #namedAt = new LRUCache<string, number>(atMostEntries(MAX_LISTS));
  readonly #silentUntil = new LRUCache<string, number>(atMostEntries(MAX_LISTS));
  /** The newest item of a list, and when its page was requested. */
  readonly #newest = new LRUCache<string, { readonly identity: string | null; readonly startedAt: number }>(
    atMostEntries(MAX_LISTS),
  );

  constructor(now: Clock) {
    this.#now = now;
  }

  has(address: string): boolean {
    return this.#now() < (this.#silentUntil.get(address) ?? 0);
  }

  /** A delivery names the address. */
  named(address: string): void {
    this.#namedAt.set(address, this.#now());
    this.#silentUntil.delete(address);
  }

  /** The newest page of a list of this address was requested `ageMs` ago: see `DeliveredAddresses.fetched`. */
  fetched(list: string, address: string, identity: string | null, ageMs: number): void {
    const before = this.#newest.get(list);
    this.#newest.set(list, { identity, startedAt: this.#now() - ageMs });
    if (!before || before.identity === identity) return;
    if ((this.#namedAt.get(address) ?? Number.NEGATIVE_INFINITY) < before.startedAt)
      this.#silentUntil.set(address, this.#now() + SILENT_MS);
  }
}
