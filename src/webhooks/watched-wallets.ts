import { type KeyedQueue, Semaphore } from '../lib/tasks.ts';
import { UpstreamError } from '../upstream/client/errors.ts';
import { WEBHOOK_TYPES, type WebhookType } from '../upstream/parse/fields.ts';
import { filtersOf, type NewWebhook, type Webhook, type WebhookChanges } from './rest.ts';
import type { WebhookSession } from './session.ts';

/**
 * The wallets that a tenant watches. A watched wallet has webhooks of its own: one for each type of events, which holds the
 * wallet's address alone and delivers to the tenant's log. Upstream's list of webhooks is the only record of them.
 *
 * A webhook belongs to a watch if its name says so and its URL is the tenant's delivery URL: anyone may give a webhook such
 * a name, and another gateway's watch of the same wallet has the same one. What does not belong to a watch is never changed
 * or deleted. What belongs to one may differ from what `watch` makes: then the wallet is not shown as watched by it.
 */
export type WatchedWallets = {
  /**
   * Returns a function that reads them page by page, from one reading of upstream's list and in its order. It reads the
   * addresses of a page's webhooks only.
   */
  pages(): (offset: string | null) => Promise<WatchedPage>;
  /**
   * Watches a wallet for these types of events on these chains; null for all chains. Webhooks that are missing are
   * created, those that differ in anything are changed, those of other types are deleted. Repeating it changes nothing. What
   * was done before a request fails stays done. Rejects with TooManyWatchedWallets.
   */
  watch(wallet: WatchRequest): Promise<WatchedWallet>;
  /** Deletes the wallet's webhooks, as far as they exist. Does nothing for a wallet that is not watched. */
  unwatch(address: string): Promise<void>;
};

/** A wallet, and its webhooks that hold its address alone: at least one, of different types. */
export type WatchedWallet = {
  readonly address: string;
  readonly webhooks: readonly Webhook[];
  /** The types whose events on `chainIds` are all delivered. */
  readonly types: readonly WebhookType[];
  /** Null for all chains. */
  readonly chainIds: readonly number[] | null;
};

type WatchedPage = {
  readonly wallets: readonly WatchedWallet[];
  /** Null on the last page. */
  readonly nextOffset: string | null;
};

type WatchRequest = Pick<WatchedWallet, 'address' | 'types' | 'chainIds'>;

export class TooManyWatchedWallets extends Error {
  override readonly name = 'TooManyWatchedWallets';

  constructor(max: number) {
    super(`Expected at most ${max} watched wallets, got one more. Unwatch another wallet first.`);
  }
}

type Parts = {
  readonly webhooks: Pick<
    WebhookSession,
    'listAll' | 'create' | 'update' | 'delete' | 'soleAddress' | 'replaceAddresses'
  >;
  readonly destination: GatewayDestination;
  /** Shared by all operations of this gateway, so that two operations of a tenant do not both create a webhook. */
  readonly keyedQueue: KeyedQueue;
  /** The most wallets that a tenant may watch. */
  readonly max: number;
};

const nameOf = (address: string): string => `watchWallet ${address}`;
const NAME = /^watchWallet (0x[0-9a-f]{40})$/i;

/** The wallets of a page. Its webhooks' addresses are a request each, unless they are known. */
const PAGE_SIZE = 20;
/** The most concurrent reads of addresses, so that a list does not hold up other operations. */
const MAX_READS = 8;

export const createWatchedWallets = ({ webhooks, destination, keyedQueue, max }: Parts): WatchedWallets => {
  const inTurn = <Answer>(change: () => Promise<Answer>): Promise<Answer> =>
    keyedQueue(`watched wallets of ${destination.url(null)}`, change);

  /** What belongs to the watch of each wallet, the oldest webhooks first: their ids begin with a time. */
  const byAddress = async (): Promise<Map<string, Webhook[]>> => {
    const groups = new Map<string, Webhook[]>();
    for (const webhook of await webhooks.listAll()) {
      const address = NAME.exec(webhook.name ?? '')?.[1]?.toLowerCase();
      if (address === undefined || !belongsHere(webhook, destination)) continue;
      const group = groups.get(address);
      if (group) group.push(webhook);
      else groups.set(address, [webhook]);
    }
    for (const group of groups.values())
      group.sort((one, other) => (one.webhookId < other.webhookId ? -1 : 1));
    return groups;
  };

  const delivers = (webhook: Webhook): boolean =>
    webhook.active && filtersOf(webhook).length === 0 && deliversHere(webhook, destination);

  /** `all` hold the address alone. Of two of one type, the one that delivers is shown, else the older one. */
  const shown = (address: string, all: readonly Webhook[]): WatchedWallet => {
    const ofEachType = WEBHOOK_TYPES.flatMap((type) => {
      const ofType = all.filter((webhook) => webhook.type === type);
      return ofType.find(delivers) ?? ofType[0] ?? [];
    });
    const delivering = ofEachType.filter(delivers);
    const chainIds = (delivering[0] ?? ofEachType[0])?.chainIds ?? null;
    const types = delivering
      .filter((webhook) => sameChains(webhook.chainIds, chainIds))
      .flatMap(({ type }) => type ?? []);
    return { address, webhooks: ofEachType, types, chainIds };
  };

  const changesTo = (webhook: Webhook, chainIds: WatchRequest['chainIds']): WebhookChanges => {
    const url = destination.url(webhook.webhookId);
    return {
      ...Object.fromEntries(filtersOf(webhook).map((filter) => [filter, null])),
      ...(!webhook.active && { active: true }),
      ...((webhook.url === null || new URL(webhook.url).href !== url) && { url }),
      ...(!sameChains(webhook.chainIds, chainIds) && { chainIds }),
    };
  };

  const bring = async (
    { address, chainIds }: WatchRequest,
    type: WebhookType,
    found: Webhook | undefined,
  ): Promise<Webhook> => {
    if (!found)
      return createForGateway(
        webhooks,
        { name: nameOf(address), type, addresses: [address], ...(chainIds && { chainIds }) },
        destination,
      );
    const held = await webhooks.soleAddress(found, 'read');
    if (held !== undefined && held !== address) await webhooks.replaceAddresses(found.webhookId, [address]);
    const changes = changesTo(found, chainIds);
    return Object.keys(changes).length === 0 ? found : webhooks.update(found.webhookId, changes);
  };

  const deleteAll = (all: readonly Webhook[]): Promise<unknown> =>
    settle(all.map(({ webhookId }) => webhooks.delete(webhookId)));

  return {
    pages() {
      const reads = new Semaphore(MAX_READS);
      let groups: Promise<Map<string, Webhook[]>> | null = null;
      const holders = async (address: string, all: readonly Webhook[]): Promise<readonly Webhook[]> => {
        const held = await Promise.all(
          all.map((webhook) => reads.run('', () => webhooks.soleAddress(webhook, 'known'))),
        );
        // If the deployment does not list addresses, name and URL have to do.
        return all.filter((_webhook, index) => held[index] === address || held[index] === undefined);
      };
      return async (offset) => {
        groups ??= byAddress();
        const all = [...(await groups)];
        const from = Number(offset ?? 0);
        const found = await Promise.all(
          all
            .slice(from, from + PAGE_SIZE)
            .map(async ([address, group]) => shown(address, await holders(address, group))),
        );
        return {
          wallets: found.filter((wallet) => wallet.webhooks.length > 0),
          nextOffset: from + PAGE_SIZE < all.length ? String(from + PAGE_SIZE) : null,
        };
      };
    },
    watch: (request) =>
      inTurn(async () => {
        const watched = await byAddress();
        const all = watched.get(request.address) ?? [];
        if (all.length === 0 && watched.size >= max) throw new TooManyWatchedWallets(max);
        // Every gateway changes the oldest one of a type, and deletes what another has created at the same time.
        const wanted = await settle(
          request.types.map((type) =>
            bring(
              request,
              type,
              all.find((webhook) => webhook.type === type),
            ),
          ),
        );
        const kept = new Set(wanted.map(({ webhookId }) => webhookId));
        await deleteAll(all.filter(({ webhookId }) => !kept.has(webhookId)));
        return shown(request.address, wanted);
      }),
    unwatch: (address) => inTurn(async () => void (await deleteAll((await byAddress()).get(address) ?? []))),
  };
};

const sameChains = (one: readonly number[] | null, other: readonly number[] | null): boolean =>
  one === null || other === null ? one === other : sorted(one) === sorted(other);

const sorted = (chainIds: readonly number[]): string => [...new Set(chainIds)].sort((a, b) => a - b).join();

/** Resolves when all have; when some reject, rejects as the first of them once all have settled. */
const settle = async <Value>(all: readonly Promise<Value>[]): Promise<Value[]> => {
  await Promise.allSettled(all);
  return Promise.all(all);
};

/**
 * This gateway as a destination. `url` is its delivery URL for one webhook, or for any webhook when the id is null. `urls`
 * are all that it accepts, including those being replaced.
 */
type GatewayDestination = {
  url(webhookId: string | null): string;
  urls(webhookId: string | null): readonly string[];
};

/** Whether the webhook's url is a delivery URL of this gateway and the same tenant. A URL that names another webhook is not. */
export const deliversHere = (
  { webhookId, url }: Pick<Webhook, 'webhookId' | 'url'>,
  destination: GatewayDestination,
): boolean =>
  url !== null &&
  URL.canParse(url) &&
  [...destination.urls(webhookId), ...destination.urls(null)].includes(new URL(url).href);

/** Whether the webhook's url is a delivery URL of this gateway and the same tenant, whichever webhook it names. */
const belongsHere = ({ url }: Pick<Webhook, 'url'>, destination: GatewayDestination): boolean => {
  if (url === null || !URL.canParse(url)) return false;
  const { origin, pathname } = new URL(url);
  return destination.urls(null).includes(`${origin}${pathname}`);
};

/** Points a webhook's url at this gateway. Rejects with UpstreamError. */
export const connectToGateway = (
  webhooks: Pick<WebhookSession, 'update'>,
  webhookId: string,
  destination: GatewayDestination,
): Promise<Webhook> => webhooks.update(webhookId, { url: destination.url(webhookId) });

/**
 * Creates a webhook that delivers to this gateway. Only the answer has the webhook's id, so a second request puts the id
 * into the url, for deployments whose headers do not name the webhook. If that request fails, the events still arrive.
 * Rejects with UpstreamError when the webhook could not be created.
 */
export const createForGateway = async (
  webhooks: Pick<WebhookSession, 'create' | 'update'>,
  creation: Omit<NewWebhook, 'url'>,
  destination: GatewayDestination,
): Promise<Webhook> => {
  const webhook = await webhooks.create({ ...creation, url: destination.url(null) });
  try {
    return await connectToGateway(webhooks, webhook.webhookId, destination);
  } catch (error) {
    if (error instanceof UpstreamError) return webhook;
    throw error;
  }
};
