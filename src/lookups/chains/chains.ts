import { badUserInput, clientError } from '../../graph/errors.ts';
import type { Clock } from '../../lib/deadlines.ts';
import { closestMatch } from '../../lib/edits.ts';
import type { UpstreamClient } from '../../upstream/client/client.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';
import type { RequestScope } from '../../upstream/client/request.ts';
import type { LeftOut } from '../../upstream/lookup.ts';
import type { ChainFacts, ChainTable } from '../../upstream/parse/derived.ts';
import { type ChainLookup, OWN_LOOKUPS } from '../../upstream/parse/fields.ts';
import { type Chain, KNOWN_CHAINS, KNOWN_CURRENCIES } from './known-chains.ts';
import { type ChainIndex, type ChainList, readChainList } from './read-chains.ts';

/** The chains that this gateway knows, looked up by name and checked by id and tag. */
export type Chains = ChainTable & {
  /** In the order of their ids. */
  readonly all: readonly Chain[];
  /** The chain with this id; null for an unknown one. */
  find(chainId: number): Chain | null;
  /** The id of the chain with upstream's name for it; null for an unknown name. */
  idOf(name: string): number | null;
  /** Throws BAD_USER_INPUT for an unknown id or tag, since a lookup by it would find nothing. */
  assertKnown(
    chainIds: readonly number[] | null | undefined,
    chainTags?: readonly string[] | null | undefined,
  ): void;
  /**
   * Throws BAD_USER_INPUT for a chain that the service does not offer a lookup for, before it is billed, and where it offers one of
   * OWN_LOOKUPS for no chain.
   */
  assertSupported(lookup: ChainLookup, chainIds: readonly number[] | null | undefined): void;
};

/** The number of unknown ids that one error lists. */
const MAX_LISTED = 5;

/** What is known of the currencies of all chains, and of the listed ones' names. What a list says of a currency stands over the table. */
const factsOf = (chains: readonly Chain[]): ReadonlyMap<number, ChainFacts> => {
  const facts = new Map<number, ChainFacts>(KNOWN_CURRENCIES);
  for (const { chainId, name: chain, native } of chains)
    facts.set(chainId, { ...(native ?? facts.get(chainId)), chain });
  return facts;
};

/**
 * Adds `extra` to the listed chains. An extra chain replaces the name, the tags and, where it says one, the currency of the
 * listed one with the same id.
 */
export const createChains = (listed: readonly Chain[], extra: readonly Chain[]): Chains => {
  const byId = new Map(listed.map((chain) => [chain.chainId, chain]));
  for (const chain of extra) byId.set(chain.chainId, { ...byId.get(chain.chainId), ...chain });
  const all = [...byId.values()].sort((one, other) => one.chainId - other.chainId);
  const byName = new Map(all.map((chain) => [chain.name, chain]));
  const idsByName = new Map(all.map(({ name, chainId }) => [name, chainId]));
  const tags = [...new Set(all.flatMap((chain) => chain.tags))].sort();

  const suggestIds = (chainIds: readonly number[]): string => {
    const near = chainIds.map((id) =>
      nearest(
        String(id),
        all.map(({ chainId }) => String(chainId)),
      ),
    );
    const found = near.flatMap((id) => byId.get(Number(id)) ?? []);
    return found.length === 0
      ? '.'
      : `: did you mean ${found.map(({ chainId, name }) => `${chainId} (${name})`).join(', ')}?`;
  };
  const suggestTag = (tag: string): string => {
    const chain = byName.get(tag);
    if (chain) return `: that is the name of a chain, which chainIds takes as ${chain.chainId}.`;
    const near = nearest(tag, tags);
    return near === null ? '.' : `: did you mean ${near}?`;
  };

  return {
    all,
    idsByName,
    facts: factsOf(all),
    find: (chainId) => byId.get(chainId) ?? null,
    idOf: (name) => idsByName.get(name) ?? null,
    assertKnown(chainIds, chainTags) {
      if (!chainIds?.length && !chainTags?.length) return;
      const ids = [...new Set(chainIds)].filter((id) => !byId.has(id)).slice(0, MAX_LISTED);
      if (ids.length > 0)
        throw badUserInput(
          `Expected chainIds that the query { chains { chainId name } } lists, or that EXTRA_CHAINS adds, got ${ids.join(', ')}${suggestIds(ids)}`,
        );
      const tag = chainTags?.find((each) => !tags.includes(each));
      if (tag !== undefined)
        throw badUserInput(
          `Expected chainTags among ${tags.join(', ')}, got ${JSON.stringify(tag)}${suggestTag(tag)}`,
        );
    },
    assertSupported(lookup, chainIds) {
      const isAnywhere = all.some(({ supports = null }) => supports === null || supports.includes(lookup));
      if (OWN_LOOKUPS.has(lookup) && !isAnywhere) throw notOffered(lookup);
      if (!chainIds?.length) return;
      const unsupported = [...new Set(chainIds)].flatMap((id) => {
        const chain = byId.get(id);
        if (!chain?.supports || chain.isEmpty || chain.supports.includes(lookup)) return [];
        const reason = chain.reasons?.get(lookup);
        return `${id} (${chain.name})${reason === undefined ? '' : `: ${reason}`}`;
      });
      if (unsupported.length > 0)
        throw badUserInput(
          `Expected chains that the service supports for ${lookup}, as the query { chains { chainId supports } } lists them, got ${unsupported.slice(0, MAX_LISTED).join(', ')}.`,
        );
    },
  };
};

const notOffered = (lookup: ChainLookup): Error =>
  badUserInput(
    `Expected a service that offers ${lookup}, as the query { chains { chainId supports } } says, got one that does not.`,
  );

/** Reads a lookup. Rejects with BAD_USER_INPUT where it is one of OWN_LOOKUPS, and the service does not know its path. */
export const offered = <Result>(
  lookup: ChainLookup | undefined,
  reading: Promise<Result>,
): Promise<Result> =>
  lookup === undefined || !OWN_LOOKUPS.has(lookup)
    ? reading
    : reading.catch((error: unknown) => {
        throw error instanceof UpstreamError && error.status === 404 ? notOffered(lookup) : error;
      });
/** Two edits are a misspelling, and one in a text of up to 5 characters. */
const nearest = (text: string, candidates: readonly string[]): string | null =>
  closestMatch(text, candidates, text.length > 5 ? 2 : 1);

/** For how long the service's list of chains is fresh. */
const FRESH_MS = 3_600_000;
/** For how long it stands in for one that can't be read. */
const STALE_MS = 24 * FRESH_MS;
/** The pause after a failed attempt. */
const RETRY_MS = 60_000;
/** For how long a list is fresh that says how far its indexes are. */
const INDEX_FRESH_MS = 2_000;

export type ChainSource = {
  /** The chains that this gateway knows at the moment. */
  current(): Chains;
  /** How far the service is with a chain, seconds old at most; null where it does not say, or can't be asked. */
  index(chainId: number): Promise<ChainIndex | null>;
  /** What the service offers for a chain, by its own list where it indexes the chain itself; null where it has not said so. */
  supports(chain: Chain): Promise<readonly ChainLookup[] | null>;
  /**
   * The id of the first chain that the service says it offers a lookup for; null for none. Waits for the service's list where none has
   * been read, and rejects where it can't be.
   */
  chainWith(lookup: ChainLookup): Promise<number | null>;
  /** The details that the service leaves out of requests that say so, by its own list. */
  leavesOut(): LeftOut;
  /** Whether the service says, in its own list, that requests cost nothing. */
  isFree(): boolean;
  /** The service has told of a change: what was read of its index before is outdated. */
  changed(): void;
};

type Options = {
  /** Take the place of the service's list until it has been read. Default: KNOWN_CHAINS. */
  readonly builtIn?: readonly Chain[] | undefined;
  /** As in the list, until it has been read. Default: nothing. */
  readonly leavesOut?: readonly string[] | undefined;
  /** Override chains of the list with the same ids, and add others. */
  readonly extra: readonly Chain[];
  /** Resolves with the service's list as it sends it; null where the built-in one is used. */
  readonly read: (() => Promise<unknown>) | null;
  /** Called once the list says that the service tells of changes. */
  readonly onTelling?: () => void;
  readonly now: Clock;
};

type Listed = Pick<ChainList, 'indexes' | 'leavesOut' | 'isFree'> & {
  readonly chains: Chains;
  /** Whether what it says of lookups will stay. */
  readonly isSettled: boolean;
  readonly readAt: number;
};

/**
 * Knows the service's own list of chains while it can be read, and a built-in one otherwise. The list is read in the
 * background, for the first time at once: nobody waits for it, except for what it says of an index.
 */
export const createChainSource = ({
  builtIn: known = KNOWN_CHAINS,
  leavesOut = [],
  extra,
  read,
  onTelling = () => {},
  now,
}: Options): ChainSource => {
  const builtIn = createChains(known, extra);
  const leftOut: LeftOut = new Map(leavesOut.map((detail) => [detail, null]));
  if (read === null)
    return {
      current: () => builtIn,
      index: async () => null,
      supports: async ({ supports = null }) => supports,
      chainWith: async (lookup) => firstWith(builtIn, lookup),
      leavesOut: () => leftOut,
      isFree: () => false,
      changed() {},
    };
  let listed: Listed | null = null;
  let readAgainAt = 0;
  let reading: Promise<Listed | null> | null = null;
  let changedAt = Number.NEGATIVE_INFINITY;

  const readOnce = async (): Promise<Listed | null> => {
    readAgainAt = now() + RETRY_MS;
    try {
      const readAt = now();
      const { chains, isTelling, ...rest } = readChainList(await read());
      const isSettled = !chains.some(({ isEmpty }) => isEmpty);
      listed = { chains: createChains(chains, extra), ...rest, isSettled, readAt };
      readAgainAt = now() + (isSettled ? FRESH_MS : INDEX_FRESH_MS);
      if (isTelling) onTelling();
      return listed;
    } catch {
      // The observer of upstream requests has reported the failure.
      return null;
    } finally {
      reading = null;
    }
  };
  const refresh = (): Promise<Listed | null> => {
    reading ??= readOnce();
    return reading;
  };
  const current = (): Chains => {
    if (now() >= readAgainAt) void refresh();
    return listed !== null && now() - listed.readAt < STALE_MS ? listed.chains : builtIn;
  };
  const latest = async (): Promise<Listed | null> => {
    const isRecent = ({ readAt }: Listed) => now() - readAt < INDEX_FRESH_MS && readAt > changedAt;
    const isFresh = listed !== null && (listed.indexes.size === 0 || isRecent(listed));
    const found = isFresh ? listed : await refresh();
    // A read that had begun before a change may have missed it.
    const isOutdated = found !== null && found.indexes.size > 0 && found.readAt <= changedAt;
    return isOutdated ? refresh() : found;
  };
  current();
  return {
    current,
    index: async (chainId) => (await latest())?.indexes.get(chainId) ?? null,
    async supports({ chainId, isIndexed = false, supports = null }) {
      const list = isIndexed && !listed?.isSettled ? await latest() : null;
      return list === null ? supports : (list.chains.find(chainId)?.supports ?? null);
    },
    async chainWith(lookup) {
      const isTried = listed === null && (reading !== null || now() >= readAgainAt);
      const found = isTried ? await refresh() : listed;
      if (found === null)
        throw clientError(
          'UPSTREAM_UNAVAILABLE',
          `Expected the service's list of chains, which says where it offers ${lookup}, got none: try again later.`,
        );
      return firstWith(found.chains, lookup);
    },
    leavesOut: () => listed?.leavesOut ?? leftOut,
    isFree: () => listed?.isFree ?? false,
    changed() {
      changedAt = now();
    },
  };
};

const firstWith = ({ all }: Chains, lookup: ChainLookup): number | null =>
  all.find(({ supports }) => supports?.includes(lookup))?.chainId ?? null;

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
