import type { Clock } from '../lib/deadlines.ts';
import { isObject } from '../lib/json/exact-json.ts';
import type { UpstreamClient } from '../upstream/client/client.ts';
import type { RequestScope } from '../upstream/client/request.ts';
import {
  CHAIN_LOOKUPS,
  MalformedFieldError,
  malformed,
  readChainId,
  readString,
} from '../upstream/parse/fields.ts';
import { type Chains, createChains } from './chains.ts';
import { type Chain, KNOWN_CHAINS } from './known-chains.ts';

/** For how long the service's list of chains is fresh. */
const FRESH_MS = 3_600_000;
/** For how long it stands in for one that can't be read. */
const STALE_MS = 24 * FRESH_MS;
/** The pause after a failed attempt. */
const RETRY_MS = 60_000;

/** The chains that this gateway knows at a moment. */
export type ChainSource = { current(): Chains };

type Options = {
  /** Override chains of the list with the same ids, and add others. */
  readonly extra: readonly Chain[];
  /** Resolves with the service's list as it sends it; null where the built-in table is used. */
  readonly read: (() => Promise<unknown>) | null;
  readonly now: Clock;
};

/**
 * Knows the service's own list of chains while it can be read, and the built-in table otherwise. The list is read in the
 * background, for the first time at once: nobody waits for it.
 */
export const createChainSource = ({ extra, read, now }: Options): ChainSource => {
  const builtIn = createChains(KNOWN_CHAINS, extra);
  if (read === null) return { current: () => builtIn };
  let listed: { readonly chains: Chains; readonly readAt: number } | null = null;
  let readAgainAt = 0;

  const refresh = async (): Promise<void> => {
    // No other attempt starts while this one is under way: it takes less time than the pause.
    readAgainAt = now() + RETRY_MS;
    const chains = readList(await read());
    listed = { chains: createChains(chains, extra), readAt: now() };
    readAgainAt = now() + FRESH_MS;
  };
  const current = (): Chains => {
    // The observer of upstream requests reports a failure.
    if (now() >= readAgainAt) refresh().catch(() => {});
    return listed !== null && now() - listed.readAt < STALE_MS ? listed.chains : builtIn;
  };
  current();
  return { current };
};

/** Reads the list from upstream, which needs no key and bills nothing. */
export const readChainsOf =
  (client: UpstreamClient, scope: () => RequestScope): (() => Promise<unknown>) =>
  async () => {
    const { body } = await client.request(
      {
        resource: 'chains',
        method: 'GET',
        path: ['v1', 'evm', 'supported-chains'],
        cost: 0,
        withoutKey: true,
      },
      scope(),
    );
    return body;
  };

/** Reads the service's list. Leaves out what is no chain. Throws MalformedFieldError for a list without chains. */
const readList = (body: unknown): readonly Chain[] => {
  const items = isObject(body) ? body.chains : body;
  const chains = Array.isArray(items) ? items.flatMap(readChain) : [];
  if (chains.length === 0) throw malformed('chains', 'a list of chains', items);
  // Another deployment's list does not say what it supports.
  const saysSupport = chains.some(({ supports }) => supports?.length !== 0);
  return saysSupport ? chains : chains.map((chain) => ({ ...chain, supports: null }));
};

const readChain = (item: unknown): readonly Chain[] => {
  if (!isObject(item)) return [];
  const { name, tags } = item;
  try {
    return [
      {
        chainId: readChainId(item.chain_id ?? item.id, 'chain_id'),
        name: readString(name, 'name'),
        tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
        supports: CHAIN_LOOKUPS.filter((lookup) => {
          const support = item[lookup.toLowerCase()];
          return isObject(support) && support.supported === true;
        }),
      },
    ];
  } catch (error) {
    if (error instanceof MalformedFieldError) return [];
    throw error;
  }
};
