import { PAGED_FIELDS, POSSIBLE_TYPES, TYPES_WITHOUT_ID } from './__generated__/schema.ts';
import { joinPage, keepsPages, selectingArguments } from './lists.ts';

type Args = Readonly<Record<string, unknown>> & { readonly after?: unknown };

/** The part of Graphcache that a resolver needs. */
type Cache = {
  resolve(entity: string, field: string): unknown;
  inspectFields(
    entity: string,
  ): readonly { readonly fieldName: string; readonly fieldKey: string; readonly arguments: Args | null }[];
};

type Info = { readonly parentKey: string; readonly fieldName: string; readonly parentFieldKey: string };

type Edge = { readonly __typename: string; readonly cursor: unknown; readonly node: string | null };

type Item = { readonly edge: Edge | null; readonly node: string | null };

type PageInfo = { readonly [name: string]: unknown; readonly endCursor?: unknown };

type Page = { readonly type: string; readonly items: readonly Item[]; readonly pageInfo: PageInfo };

/** A list with all pages that were read so far. */
type List = {
  items: readonly Item[];
  pageInfo: PageInfo;
  /** What each page had when it was put into the list. */
  readonly pages: Map<string, string>;
};

const lists = /* @__PURE__ */ new WeakMap<Cache, Map<string, List>>();

const stringOr = <Other>(value: unknown, other: Other): string | Other =>
  typeof value === 'string' ? value : other;

const linksIn = (value: unknown): readonly (string | null)[] =>
  Array.isArray(value) ? value.map((link) => stringOr(link, null)) : [];

const itemOf = (cache: Cache, edge: string | null): Item => {
  if (edge === null) return { edge: null, node: null };
  const node = stringOr(cache.resolve(edge, 'node'), null);
  const __typename = stringOr(cache.resolve(edge, '__typename'), '');
  return { edge: { __typename, cursor: cache.resolve(edge, 'cursor'), node }, node };
};

const PAGE_INFO = ['__typename', 'endCursor', 'startCursor', 'hasNextPage', 'hasPreviousPage'];

/** Null for a page that failed or is not there any longer. */
const readPage = (cache: Cache, parentKey: string, fieldKey: string): Page | null => {
  const link = cache.resolve(parentKey, fieldKey);
  if (typeof link !== 'string') return null;
  const edges = linksIn(cache.resolve(link, 'edges')).map((edge) => itemOf(cache, edge));
  const nodes = linksIn(cache.resolve(link, 'nodes')).map((node) => ({ edge: null, node }));
  const info = stringOr(cache.resolve(link, 'pageInfo'), '');
  const pageInfo = Object.fromEntries(PAGE_INFO.map((name) => [name, cache.resolve(info, name)]));
  return {
    type: stringOr(cache.resolve(link, '__typename'), ''),
    items: edges.length > 0 ? edges : nodes,
    pageInfo,
  };
};

/** Where a page begins in a list. Null for one that continues another state of the list. */
const placeOf = ({ items, pageInfo }: List, after: unknown): number | null => {
  if ((after ?? null) === null) return 0;
  if (items.length === 0 || pageInfo.endCursor === after) return items.length;
  const index = items.findLastIndex(({ edge }) => edge?.cursor === after);
  return index < 0 ? null : index + 1;
};

/** Puts a page into a list. Returns false if it has no place there. */
const put = (list: List, page: Page, args: Args, field: string): boolean => {
  const at = placeOf(list, args.after);
  if (at === null) return false;
  const items = at === 0 && !keepsPages(field) ? [] : list.items;
  // What has no id is a part of its page, where another item takes its place.
  const keyOf = ({ node }: Item) =>
    node?.includes('.edges.') || node?.includes('.nodes.') ? undefined : (node ?? undefined);
  const joined = joinPage(items, at, page.items, keyOf);
  const cut = { endCursor: joined.items.at(-1)?.edge?.cursor, hasNextPage: true };
  const { endCursor, hasNextPage } =
    joined.end === 'page' ? page.pageInfo : joined.end === 'cut' ? cut : list.pageInfo;
  const beginning = at === 0 ? page.pageInfo : list.pageInfo;
  list.items = joined.items;
  list.pageInfo = { ...beginning, endCursor, hasNextPage };
  return true;
};

/** All pages of a list that were loaded so far, whichever of them is asked for. */
const pages = (
  _parent: unknown,
  args: Args,
  cache: Cache,
  { parentKey, parentFieldKey, fieldName }: Info,
) => {
  const selecting = (given: Args | null) =>
    JSON.stringify(selectingArguments(given).map((name) => [name, given?.[name]]));
  const own = readPage(cache, parentKey, parentFieldKey);
  const known = lists.get(cache) ?? new Map<string, List>();
  lists.set(cache, known);
  const name = `${parentKey}.${fieldName}${selecting(args)}`;
  const list: List = known.get(name) ?? { items: [], pageInfo: {}, pages: new Map() };
  known.set(name, list);
  const others = cache
    .inspectFields(parentKey)
    .filter((info) => info.fieldName === fieldName && selecting(info.arguments) === selecting(args))
    .toSorted(
      (one, other) => Number(Boolean(one.arguments?.after)) - Number(Boolean(other.arguments?.after)),
    );
  for (const { fieldKey, arguments: given } of others) {
    const page = readPage(cache, parentKey, fieldKey);
    if (page === null) continue;
    const content = JSON.stringify([page.items, page.pageInfo.endCursor]);
    // A list that was cut gets a page again when that is asked for.
    const continues = fieldKey === parentFieldKey && args.after && list.pageInfo.endCursor === args.after;
    if (list.pages.get(fieldKey) === content && !continues) continue;
    if (put(list, page, given ?? {}, fieldName)) list.pages.set(fieldKey, content);
  }
  // Undefined stands for what is to be fetched.
  if (own === null)
    return cache.resolve(parentKey, parentFieldKey) === null && list.items.length === 0 ? null : undefined;
  return {
    __typename: own.type,
    edges: list.items.map(({ edge }) => edge),
    nodes: list.items.map(({ node }) => node),
    pageInfo: list.pageInfo,
  };
};

const keys = () => Object.fromEntries(TYPES_WITHOUT_ID.map((type) => [type, () => null]));

const resolvers = () =>
  Object.fromEntries(
    Object.entries(PAGED_FIELDS).map(([type, fields]) => [
      type,
      Object.fromEntries(fields.map((field) => [field, pages])),
    ]),
  );

/**
 * Options for urql's Graphcache: `cacheExchange(graphcacheOptions)`, or with more of your own.
 *
 * - `keys` names the types that have no id: Graphcache keeps them as parts of the object they are selected below.
 * - `possibleTypes` says what a fragment on a union applies to, such as the events of a delivery.
 * - `resolvers` page each list by `edges` or `nodes`, one list for each set of the other arguments. When their first page is
 *   fetched again, `Wallet.activity` and `Wallet.transactions` keep their loaded pages, and newer items appear on top. They keep
 *   a thousand rows; the others can be loaded again.
 */
export const graphcacheOptions = {
  possibleTypes: POSSIBLE_TYPES,
  keys: /* @__PURE__ */ keys(),
  resolvers: /* @__PURE__ */ resolvers(),
};
