import type { ChainLookup } from './chains.ts';
import { itemsOf, membersOf, Skipped } from './finding.ts';
import { bodyOf, type ErrorForm, type Judged, type Point } from './point.ts';
import type { Answer, Asked, Operation } from './service.ts';
import type { Shape } from './shape.ts';
import { UNUSED } from './wallets.ts';

type Item = Readonly<Record<string, unknown>>;

/** Where a lookup has data: the parameters of a request that shows it. */
export type Where = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
};

/** What the contract says about one lookup. The points that all lookups share are made from it. */
export type Lookup = Operation & {
  readonly method: 'GET';
  /** The part of the documents that specifies it. */
  readonly source: string;
  /** The form of its own errors; null where it is not documented. */
  readonly errors: ErrorForm | null;
  /** Its whole answer. */
  readonly answer: Shape;
  readonly needsKey: boolean;
  /** What it is called in the list of supported chains; null where that list does not say. */
  readonly support: ChainLookup | null;
  /** How many chains `chain_ids` may name. */
  readonly chains: 'many' | 'one' | 'none';
  /** Its items, where it answers a list. */
  readonly list?: List;
  /** Values of its parameters that it does not know. Services may ignore them. */
  readonly unknown?: Readonly<Record<string, readonly string[]>>;
  /** @throws Skipped when there is no data. */
  readonly find: (judged: Judged) => Promise<Where>;
};

type List = {
  /** The member with the items; null when the answer is the list. */
  readonly member: string | null;
  /** What tells two items apart. */
  readonly identity: (item: Item) => string;
  /** The page size without `limit`, and the greatest one; null when the list has no pages. */
  readonly limit: { readonly default: number; readonly most: number } | null;
  /** Whether equal items may occur, which are different all the same. Default: false. */
  readonly hasEqualItems?: boolean;
  /** Whether `next_offset` leads to another page. */
  readonly pages: boolean;
};

/** A point of a lookup: its promise, and its check. */
export type Named = readonly [expects: string, check: Point['check']];

/** A request that is well-formed and finds nothing. */
export const nowhere = ({ path, chains }: Lookup, chainId: number): Where => ({
  path: {
    address: UNUSED,
    token_address: UNUSED,
    chain_id: String(chainId),
    hash: UNUSED.padEnd(66, '0'),
  },
  query: {
    ...(chains !== 'none' && { chain_ids: String(chainId) }),
    ...(path.endsWith('/search/tokens') && { query: 'usd' }),
  },
});

export const ask = (
  { service }: Judged,
  lookup: Lookup,
  where: Where,
  query: Readonly<Record<string, string>> = {},
  rest: Pick<Asked, 'chains' | 'again'> = {},
): Promise<Answer> => service.ask(lookup, { path: where.path, query: { ...where.query, ...query }, ...rest });

/** The items of an answer, which must be a 200. One that is no list is its only item. */
export const items = ({ list }: Lookup, answer: Answer): readonly Item[] => {
  const body = bodyOf(answer);
  if (list === undefined) return [membersOf(body)];
  return itemsOf(list.member === null ? body : membersOf(body)[list.member]);
};

/** The largest page of a lookup where it has data. */
export const largest = async (judged: Judged, lookup: Lookup): Promise<readonly Item[]> => {
  const most = lookup.list?.limit?.most;
  const query = most === undefined ? {} : { limit: String(most) };
  return items(lookup, await ask(judged, lookup, await lookup.find(judged), query));
};

/** The id of a chain that the lookup covers. @throws Skipped when there is none. */
export const someChain = async (
  { chains }: Judged,
  { support }: Pick<Lookup, 'support'>,
): Promise<number> => {
  const found = (await chains.all()).find(({ supports }) => support === null || supports.has(support));
  if (found === undefined) throw new Skipped('no chain supports it');
  return found.id;
};

/** The places that a lookup is asked for at most, to find one with data. */
const MAX_TRIED = 6;

/**
 * The places of known wallets where a lookup of wallets may have data.
 * @throws Skipped when there are none.
 */
export const placesOf = async (judged: Judged, { support }: Lookup): Promise<readonly Where[]> => {
  const places = await judged.wallets.places(support ?? '');
  const covered = places.filter(({ chain }) => support === null || chain.supports.has(support));
  if (covered.length === 0) {
    await someChain(judged, { support });
    throw new Skipped('the chains of the wallets do not support it: choose another one with --chain');
  }
  return covered
    .slice(0, MAX_TRIED)
    .map(({ wallet, chain }) => ({ path: { address: wallet }, query: { chain_ids: String(chain.id) } }));
};

/** Finds a wallet with items of a lookup. */
export const findWallet = async (judged: Judged, lookup: Lookup): Promise<Where> => {
  const most = lookup.list?.limit?.most;
  const query = most === undefined ? {} : { limit: String(most) };
  for (const where of await placesOf(judged, lookup)) {
    const answer = await ask(judged, lookup, where, query);
    if (items(lookup, answer).length > 0) return where;
  }
  const wanted = lookup.path.replace('/{address}', '').split('/').at(-1);
  throw new Skipped(`no wallet with ${wanted} was found: name one with --wallet and --chain`);
};

export const isOfWallets = ({ path, chains }: Lookup): boolean =>
  path.includes('{address}') && chains === 'many';

/** Where a lookup has data, or else a wallet without any, for what needs none. */
export const findAny = async (judged: Judged, lookup: Lookup): Promise<Where> => {
  try {
    return await lookup.find(judged);
  } catch (problem) {
    const [place] = problem instanceof Skipped && isOfWallets(lookup) ? await placesOf(judged, lookup) : [];
    if (place === undefined) throw problem;
    return place;
  }
};
