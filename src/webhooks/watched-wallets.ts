import type { KeyedQueue } from '../lib/scheduling/keyed-queue.ts';
import type { WebhookType } from '../upstream/parse/enums.ts';
import { createForGateway, deliversHere, type GatewayDestination } from './gateway-destination.ts';
import type { Webhook } from './rest.ts';
import type { WebhookSession } from './session.ts';

/**
 * The wallets that a tenant watches. A watched wallet has webhooks of its own: one for each type of events, which holds
 * the wallet's address alone and delivers to the tenant's log. Upstream's list of webhooks is the only record of them.
 */
export type WatchedWallets = {
  /** All of them, in the order of upstream's list. */
  list(): Promise<readonly WatchedWallet[]>;
  /**
   * Watches a wallet for these types of events on these chains; null for all chains. Webhooks that are missing are
   * created, those that differ are changed, those of other types are deleted. Repeating it changes nothing. What was done
   * before a request fails stays done. Rejects with TooManyWatchedWallets.
   */
  watch(wallet: WatchRequest): Promise<WatchedWallet>;
  /** Deletes the wallet's webhooks. Does nothing for a wallet that is not watched. */
  unwatch(address: string): Promise<void>;
};

/** A wallet and its webhooks, at least one, of different types. */
export type WatchedWallet = { readonly address: string; readonly webhooks: readonly Webhook[] };

type WatchRequest = {
  readonly address: string;
  readonly types: readonly WebhookType[];
  readonly chainIds: readonly number[] | null;
};

export class TooManyWatchedWallets extends Error {
  override readonly name = 'TooManyWatchedWallets';

  constructor(max: number) {
    super(`Expected at most ${max} watched wallets, got one more. Unwatch another wallet first.`);
  }
}

type Parts = {
  readonly webhooks: Pick<WebhookSession, 'listAll' | 'create' | 'update' | 'delete'>;
  readonly destination: GatewayDestination;
  /** Shared by all operations of this gateway, so that two of a tenant do not both create a webhook. */
  readonly keyedQueue: KeyedQueue;
  /** The most wallets that a tenant may watch. */
  readonly max: number;
};

/** The webhook's name and its URL say that it is one of these. Anyone may name a webhook: what else a name says is no address. */
const NAME = 'watchWallet ';
const NAMES_ADDRESS = /^watchWallet (0x[0-9a-f]{40})$/i;

export const createWatchedWallets = ({ webhooks, destination, keyedQueue, max }: Parts): WatchedWallets => {
  const inTurn = <Answer>(change: () => Promise<Answer>): Promise<Answer> =>
    keyedQueue(`watched wallets of ${destination.url(null)}`, change);

  const addressOf = (webhook: Webhook): string | null =>
    webhook.type !== null && deliversHere(webhook, destination)
      ? (NAMES_ADDRESS.exec(webhook.name ?? '')?.[1]?.toLowerCase() ?? null)
      : null;

  const byAddress = async (): Promise<Map<string, Webhook[]>> => {
    const groups = Map.groupBy(await webhooks.listAll(), addressOf);
    groups.delete(null);
    return groups as Map<string, Webhook[]>;
  };

  const bring = (
    { address, chainIds }: WatchRequest,
    type: WebhookType,
    found: Webhook | undefined,
  ): Promise<Webhook> => {
    if (!found)
      return createForGateway(
        webhooks,
        { name: `${NAME}${address}`, type, addresses: [address], ...(chainIds && { chainIds }) },
        destination,
      );
    return found.active && sameChains(found.chainIds, chainIds)
      ? Promise.resolve(found)
      : webhooks.update(found.webhookId, { active: true, chainIds });
  };

  return {
    async list() {
      return [...(await byAddress())].map(([address, all]) => ({ address, webhooks: oneOfEachType(all) }));
    },
    watch: (request) =>
      inTurn(async () => {
        const watched = await byAddress();
        const all = watched.get(request.address);
        if (!all && watched.size >= max) throw new TooManyWatchedWallets(max);
        const ofTypes = new Map(oneOfEachType(all ?? []).map((webhook) => [webhook.type, webhook]));
        const wanted = await settle(request.types.map((type) => bring(request, type, ofTypes.get(type))));
        // Also a second webhook of one type, which another gateway has created at the same time.
        const kept = new Set(wanted.map(({ webhookId }) => webhookId));
        const others = (all ?? []).filter(({ webhookId }) => !kept.has(webhookId));
        await settle(others.map(({ webhookId }) => webhooks.delete(webhookId)));
        return { address: request.address, webhooks: wanted };
      }),
    unwatch: (address) =>
      inTurn(async () => {
        const all = (await byAddress()).get(address) ?? [];
        await settle(all.map(({ webhookId }) => webhooks.delete(webhookId)));
      }),
  };
};

/** Every gateway picks the same one where there are several: the one with the lowest id, which is the oldest. */
const oneOfEachType = (webhooks: readonly Webhook[]): readonly Webhook[] => {
  const oldestFirst = webhooks.toSorted((one, other) => (one.webhookId < other.webhookId ? -1 : 1));
  return [...Map.groupBy(oldestFirst, ({ type }) => type).values()].flatMap(([oldest]) => oldest ?? []);
};

const sameChains = (one: readonly number[] | null, other: readonly number[] | null): boolean =>
  one === null || other === null ? one === other : sorted(one) === sorted(other);

const sorted = (chainIds: readonly number[]): string => [...new Set(chainIds)].sort((a, b) => a - b).join();

/** Resolves when all have; when some reject, rejects as the first of them once all have settled. */
const settle = async <Value>(all: readonly Promise<Value>[]): Promise<Value[]> => {
  await Promise.allSettled(all);
  return Promise.all(all);
};
