import { PAGED_FIELDS, POSSIBLE_TYPES } from './__generated__/schema.ts';
import { joinPage, keepsPages, selectingArguments } from './lists.ts';

type PageInfo = { readonly endCursor?: string | null; readonly hasNextPage?: boolean };

type Edge = { readonly cursor?: string; readonly node?: unknown } | null;

/** A connection, as Apollo's cache keeps it. */
type Connection = { readonly edges?: readonly Edge[]; readonly pageInfo?: PageInfo };

type MergeOptions = {
  readonly args: (Readonly<Record<string, unknown>> & { readonly after?: unknown }) | null;
  readField(name: string, from: never): unknown;
};

/** Where a page begins in a list. Null for one that continues another state of the list. */
const placeOf = (edges: readonly Edge[], pageInfo: PageInfo | undefined, after: unknown): number | null => {
  if ((after ?? null) === null) return 0;
  if (edges.length === 0 || pageInfo?.endCursor === after) return edges.length;
  const index = edges.findLastIndex((edge) => edge?.cursor === after);
  return index < 0 ? null : index + 1;
};

const pagesOf = (field: string) => ({
  keyArgs: selectingArguments,
  merge(
    existing: Connection | null | undefined,
    incoming: Connection | null,
    { args, readField }: MergeOptions,
  ): Connection | null {
    // A list that failed is null: what is there stays.
    if (!incoming?.edges || !existing?.edges) return incoming ?? existing ?? null;
    const at = placeOf(existing.edges, existing.pageInfo, args?.after);
    if (at === null) return existing;
    const keyOf = (edge: Edge) =>
      edge ? (readField('node', edge as never) as { readonly __ref?: string } | null)?.__ref : undefined;
    const list = at === 0 && !keepsPages(field) ? [] : existing.edges;
    const { items, end } = joinPage(list, at, incoming.edges, keyOf);
    if (end === 'page') return { ...incoming, edges: items };
    const cut = { endCursor: items.at(-1)?.cursor ?? null, hasNextPage: true };
    const { endCursor, hasNextPage } = end === 'cut' ? cut : { ...existing.pageInfo };
    return {
      ...incoming,
      edges: items,
      pageInfo: { ...incoming.pageInfo, endCursor, hasNextPage } as PageInfo,
    };
  },
});

const typePolicies = () =>
  Object.fromEntries(
    Object.entries(PAGED_FIELDS).map(([type, fields]) => [
      type,
      { fields: Object.fromEntries(fields.map((field) => [field, pagesOf(field)])) },
    ]),
  );

/**
 * Options for Apollo Client's cache: `new InMemoryCache(apolloCacheOptions)`. Lists page by `edges`, one list for each set of
 * the other arguments.
 *
 * - A page that fails leaves the pages before it as they are, and an item that can't be parsed is a null edge.
 * - `Wallet.activity` and `Wallet.transactions` keep their loaded pages when they are refetched: newer items appear on top. They
 *   keep a thousand rows; the others can be loaded again.
 */
export const apolloCacheOptions = {
  possibleTypes: POSSIBLE_TYPES,
  typePolicies: /* @__PURE__ */ typePolicies(),
};
