import type { Log } from './dispatch/log.ts';
import { Refused } from './http/query.ts';
import { failureOf, inTime, mergedList } from './merged-list.ts';
import {
  type CostlyDetail,
  DETAILS,
  type Detail,
  type FailedChain,
  type FoundTokens,
  type Listed,
  type PageStart,
  type Part,
  type Place,
  type Source,
  type Wanted,
} from './source.ts';
import type { Awaitable, Token } from './types.ts';

type Options = {
  /**
   * Milliseconds that a lookup waits for a source; less than clients wait for the lookup. Default: 8,000.
   */
  readonly patienceMs?: number;
  readonly log: Log;
};

/** A source with the chains of a request that it has. */
type Asked = { readonly source: Source; readonly chainIds: ReadonlySet<number> };

/**
 * Several sources as one. Each has chains of its own: what concerns one chain is asked of its source, lists of several chains are
 * merged. A source that fails, or does not answer in time, is missing from a list that names its chains.
 */
export const joinSources = (sources: readonly Source[], { patienceMs = 8_000, log }: Options): Source => {
  const [only, ...others] = sources;
  if (only !== undefined && others.length === 0) return only;
  const byChain = new Map(sources.flatMap((source) => source.chains.map(({ id }) => [id, source] as const)));
  const sourceOf = (chainId: number): Source | null => byChain.get(chainId) ?? null;

  const askedOf = (chainIds: ReadonlySet<number>): readonly Asked[] =>
    sources.flatMap((source) => {
      const own = new Set(source.chains.map(({ id }) => id).filter((id) => chainIds.has(id)));
      return own.size === 0 ? [] : [{ source, chainIds: own }];
    });

  const onProblem = (chainIds: ReadonlySet<number>, problem: unknown): void =>
    log('a source of chains failed', { chains: [...chainIds], problem: String(problem) });

  /** What one chain's source says. Rejects with Refused when it is late. */
  const onChain = async <Value>(
    chainId: number,
    ask: (source: Source) => Awaitable<Value>,
    otherwise: Value,
  ): Promise<Value> => {
    const source = sourceOf(chainId);
    return source === null ? otherwise : inTime(patienceMs, ask(source), `Chain ${chainId}: `);
  };

  const merge = <Item extends { readonly place: Place }>(
    chainIds: ReadonlySet<number>,
    page: { readonly start: PageStart | null; readonly limit: number },
    ask: (asked: Asked, start: PageStart | null) => Awaitable<Part<Item>>,
    compare: ((one: Item, other: Item) => number) | null = null,
  ): Promise<Part<Item>> =>
    mergedList(
      askedOf(chainIds).map((asked) => ({
        chainIds: asked.chainIds,
        ask: (start: PageStart | null) => ask(asked, start),
      })),
      { ...page, patienceMs, compare, onProblem },
    );

  return {
    chains: sources.flatMap(({ chains }) => chains),
    seesCallValues: sources.some(({ seesCallValues }) => seesCallValues),
    costly: DETAILS.flatMap((detail) => costlyIn(sources, detail)),
    protocols: sources.flatMap(({ protocols }) => protocols),
    operations: sources.flatMap(({ operations }) => operations),
    // Clients take the requests of all chains as free where changes are told.
    changes: null,
    token: (chainId, address) => sourceOf(chainId)?.token(chainId, address) ?? null,
    logo: (chainId, token) => sourceOf(chainId)?.logo(chainId, token) ?? null,
    price: (chainId, token, time) => sourceOf(chainId)?.price(chainId, token, time) ?? null,
    contractName: (chainId, address) => sourceOf(chainId)?.contractName(chainId, address) ?? null,
    decodeCall: (call) => sourceOf(call.chain.id)?.decodeCall(call) ?? null,
    decodeLog: (chainId, entry) => sourceOf(chainId)?.decodeLog(chainId, entry) ?? null,
    pool: (chainId, token) => sourceOf(chainId)?.pool(chainId, token) ?? null,
    beginning: (chainId) => sourceOf(chainId)?.beginning(chainId) ?? null,
    transactions: (wallet, chainIds, limit, start, details) =>
      merge(
        chainIds,
        { start, limit },
        ({ source, chainIds: own }, from) => source.transactions(wallet, own, limit, from, details),
        byTime,
      ),
    effects: (wallet, chainIds, limit, start, filter) =>
      merge(
        chainIds,
        { start, limit },
        ({ source, chainIds: own }, from) => source.effects(wallet, own, limit, from, filter),
        byTime,
      ),
    transaction: (chainId, hash, details) =>
      onChain(chainId, (source) => source.transaction(chainId, hash, details), null),
    async learnAbis(transactions) {
      const learned = Map.groupBy(transactions, ({ chain }) => sourceOf(chain.id))
        .entries()
        .map(([source, own]) => source?.learnAbis(own) ?? []);
      return (await Promise.all(learned)).flat();
    },
    name: (account, chainId) => onChain(chainId, (source) => source.name(account, chainId), null),
    async revert(transaction) {
      const source = sourceOf(transaction.chain.id);
      if (source === null) throw new Refused(503, `no source of ${transaction.chain.name}`);
      return inTime(patienceMs, source.revert(transaction));
    },
    holdings: (wallet, chainIds, wanted) =>
      merge(chainIds, pageOf(wanted), ({ source, chainIds: own }, from) =>
        source.holdings(wallet, own, wantedFrom(wanted, from)),
      ),
    metadata: (holding) => onChain(holding.chain.id, (source) => source.metadata(holding), null),
    collection: (chainId, address) => onChain(chainId, (source) => source.collection(chainId, address), null),
    balances: (account, chainIds, wanted) =>
      'asset' in wanted
        ? merge(chainIds, { start: null, limit: Number.POSITIVE_INFINITY }, ({ source, chainIds: own }) =>
            source.balances(account, own, wanted),
          )
        : merge(chainIds, pageOf(wanted), ({ source, chainIds: own }, from) =>
            source.balances(account, own, wantedFrom(wanted, from)),
          ),
    async approvals(owner, chainIds, wanted) {
      const unread: Awaited<ReturnType<Source['approvals']>>['unread'][number][] = [];
      const part = await merge(chainIds, pageOf(wanted), async ({ source, chainIds: own }, from) => {
        const approvals = await source.approvals(owner, own, wantedFrom(wanted, from));
        unread.push(...approvals.unread);
        return approvals;
      });
      return { ...part, unread };
    },
    holders: (chainId, token, wanted) =>
      onChain(chainId, (source) => source.holders(chainId, token, wanted), null),
    supply: (chainId, token) => onChain(chainId, (source) => source.supply(chainId, token), null),
    async search(text, chainIds, limit) {
      const failed: FailedChain[] = [];
      const search = async ({ source, chainIds: own }: Asked): Promise<FoundTokens> => {
        try {
          return await inTime(patienceMs, source.search(text, own, limit));
        } catch (problem) {
          if (!(problem instanceof Refused)) onProblem(own, problem);
          for (const chainId of own) failed.push({ chainId, ...failureOf(problem) });
          return { tokens: [] };
        }
      };
      const found = await Promise.all(askedOf(chainIds).map(search));
      for (const each of found) failed.push(...(each.failed ?? []));
      return { tokens: inTurn(found.map(({ tokens }) => tokens)).slice(0, limit), failed };
    },
    async defiPositions(wallet, chainIds, time) {
      const found = askedOf(chainIds).map(({ source, chainIds: own }) =>
        inTime(patienceMs, source.defiPositions(wallet, own, time)),
      );
      return (await Promise.all(found)).flat();
    },
    status: () => sources.flatMap((source) => source.status()),
    onBlock(listener) {
      for (const source of sources) source.onBlock(listener);
    },
    async start() {
      await Promise.all(sources.map((source) => source.start()));
    },
    async stop() {
      await Promise.all(sources.map((source) => source.stop()));
    },
  };
};

/** A detail that any source has costs for, with the smallest page. */
const costlyIn = (sources: readonly Source[], detail: Detail): readonly CostlyDetail[] => {
  const found = sources.flatMap(({ costly }) => costly.filter((each) => each.detail === detail));
  const pages = found.flatMap(({ page }) => page ?? []);
  return found.length === 0 ? [] : [{ detail, page: pages.length === 0 ? null : Math.min(...pages) }];
};

const pageOf = ({ after, limit }: Wanted) => ({
  start: after && { place: after, including: false },
  limit,
});

const wantedFrom = ({ limit }: Wanted, start: PageStart | null): Wanted => ({
  after: start?.place ?? null,
  limit,
});

/** Newest first; of one time, those of the chain with the greater id. */
const byTime = (
  { transaction: one }: Listed<{ readonly blockTime: number; readonly chain: { readonly id: number } }>,
  { transaction: other }: Listed<{ readonly blockTime: number; readonly chain: { readonly id: number } }>,
): number => other.blockTime - one.blockTime || other.chain.id - one.chain.id;

/** The first of each list, then the second of each, and so on: how sources rank what they find can't be compared. */
const inTurn = (lists: readonly (readonly Token[])[]): readonly Token[] => {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat();
};
