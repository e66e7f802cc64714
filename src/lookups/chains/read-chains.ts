import { isObject } from '../../lib/json/exact-json.ts';
import type { LeftOut } from '../../upstream/lookup.ts';
import {
  CHAIN_LOOKUPS,
  MalformedFieldError,
  malformed,
  type Reader,
  readChainId,
  readInteger,
  readString,
  readTime,
  readTokenDecimals,
  readWebUrl,
} from '../../upstream/parse/fields.ts';
import type { Chain, ChainExplorer, NativeCurrency } from './known-chains.ts';

/** How far the service's index of a chain is. Numbers are those of blocks; null is what it does not say. */
export type ChainIndex = {
  readonly head: string | null;
  readonly headTime: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly behind: string | null;
  readonly traces: ChainTraces | null;
  readonly problem: string | null;
};

/** How far the service's traces of a chain are; null is what it does not say. */
export type ChainTraces = { readonly behind: string | null; readonly problem: string | null };

/** What the service's list says. */
export type ChainList = {
  readonly chains: readonly Chain[];
  /** By the ids of chains. Hosted services say nothing of an index. */
  readonly indexes: ReadonlyMap<number, ChainIndex>;
  readonly leavesOut: LeftOut;
  /** Whether no request costs anything. */
  readonly isFree: boolean;
  /** Whether it tells of changes. */
  readonly isTelling: boolean;
};

/** Reads the service's list. Leaves out items that are not chains. Throws MalformedFieldError for a list without chains. */
export const readChainList = (body: unknown): ChainList => {
  const list = isObject(body) ? body.chains : body;
  const items = Array.isArray(list) ? list.flatMap(readItem) : [];
  if (items.length === 0) throw malformed('chains', 'a list of chains', list);
  const chains = items.map(({ chain }) => chain);
  // Another deployment's list does not say what it supports.
  const isFree = isObject(body) && body.free === true;
  const saysSupport = chains.some(({ supports }) => supports?.length !== 0);
  return {
    chains: saysSupport ? chains : chains.map((chain) => ({ ...chain, supports: null })),
    isFree,
    // Only a service whose requests are free: more of them are made then.
    isTelling: isFree && typeof body.changes === 'string',
    leavesOut: new Map(
      isObject(body) && Array.isArray(body.optional) ? body.optional.flatMap(readOptional) : [],
    ),
    indexes: new Map(items.flatMap(({ chain, index }) => (index === null ? [] : [[chain.chainId, index]]))),
  };
};

/** A name, or an object with it. */
const readOptional = (item: unknown): readonly (readonly [name: string, page: number | null])[] => {
  const { name, page } = isObject(item) ? item : { name: item, page: null };
  if (typeof name !== 'string') return [];
  return [[name, typeof page === 'number' && Number.isSafeInteger(page) && page > 0 ? page : null]];
};

/** Characters of a reason. */
const MAX_REASON = 300;

type Item = { readonly chain: Chain; readonly index: ChainIndex | null };

const readItem = (item: unknown): readonly Item[] => {
  if (!isObject(item)) return [];
  const { name, tags } = item;
  const chainId = orNull(readChainId, item.chain_id ?? item.id);
  const itsName = orNull(readString, name);
  if (chainId === null || itsName === null) return [];
  const index = readIndex(item.index);
  const chain: Chain = {
    chainId,
    name: itsName,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    native: readCurrency(item.native),
    explorer: readExplorer(item.explorer),
    supports: CHAIN_LOOKUPS.filter((lookup) => {
      const support = item[lookup.toLowerCase()];
      return isObject(support) && support.supported === true;
    }),
    reasons: new Map(
      CHAIN_LOOKUPS.flatMap((lookup) => {
        const support = item[lookup.toLowerCase()];
        const reason = isObject(support) ? orNull(readString, support.reason) : null;
        return reason === null ? [] : [[lookup, reason.slice(0, MAX_REASON)] as const];
      }),
    ),
    isIndexed: index !== null,
    isEmpty: index !== null && index.from === null,
  };
  return [{ chain, index }];
};

/** The currency of a chain; null if the list does not say it, as those of hosted services don't. */
const readCurrency = (native: unknown): NativeCurrency | null => {
  if (!isObject(native)) return null;
  const symbol = orNull(readString, native.symbol);
  const decimals = readTokenDecimals(native.decimals);
  if (symbol === null || decimals === null) return null;
  return { symbol, decimals, name: orNull(readString, native.name), logo: readWebUrl(native.logo) };
};

/** Null if the list names none, as those of hosted services don't. */
const readExplorer = (explorer: unknown): ChainExplorer | null => {
  const name = isObject(explorer) ? orNull(readString, explorer.name) : null;
  if (!isObject(explorer) || name === null) return null;
  return { name, url: readWebUrl(explorer.url)?.replace(/\/+$/, '') ?? null };
};

const readIndex = (index: unknown): ChainIndex | null => {
  if (!isObject(index)) return null;
  return {
    head: orNull(readInteger, index.head),
    headTime: orNull(readTime, index.headTime),
    from: orNull(readInteger, index.indexedFrom),
    to: orNull(readInteger, index.indexedTo),
    behind: orNull(readInteger, index.behind),
    traces: readTraces(index.traces),
    problem: orNull(readString, index.problem),
  };
};

const readTraces = (traces: unknown): ChainTraces | null =>
  isObject(traces)
    ? { behind: orNull(readInteger, traces.behind), problem: orNull(readString, traces.problem) }
    : null;

/** What `read` makes of a value; null for a malformed one. */
const orNull = <Value>(read: Reader<Value>, value: unknown): Value | null => {
  try {
    return read(value, 'chains');
  } catch (error) {
    if (error instanceof MalformedFieldError) return null;
    throw error;
  }
};
