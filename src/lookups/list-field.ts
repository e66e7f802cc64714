import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core';
import { type GraphQLResolveInfo, getNamedType } from 'graphql';
import type { Context } from '../context.ts';
import { type BuilderTypes, builder } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { argumentsOfNext, selectionOf, selectsBelow } from '../graph/cost/operation-info.ts';
import { streamsLists } from '../graph/incremental.ts';
import { connect } from '../graph/pagination/connection.ts';
import { lookupConnectionType, type PageArgs, pageArguments } from '../graph/pagination/connection-type.ts';
import type { ListConnection } from '../graph/pagination/list-connection.ts';
import { MAX_FILTERED_PAGES } from '../graph/pagination/walk.ts';
import { semanticNonNull } from '../graph/semantic-non-null.ts';
import type { ChainPricing } from '../upstream/client/request.ts';
import type { AnyList } from '../upstream/list-loader.ts';
import type { AnyLookup, ListLookup } from '../upstream/lookup.ts';
import { type Details, detailsOf, NO_DETAILS, unionOf } from '../upstream/page.ts';
import { offered } from './chains/chains.ts';
import { type ChainArgs, chainsParameter } from './chains/chains-schema.ts';

type Options<Parent, List extends AnyList, Item, Args extends InputFieldMap> = {
  /** The items' type. It names the connection and its edges. */
  readonly item: ObjectRef<BuilderTypes, Item>;
  /** Names the list in descriptions: "a wallet's transactions". */
  readonly items: string;
  readonly description: string;
  /** The arguments beside `first` and `after`: `chainArguments`, and those of the list. */
  readonly args: Args;
  /**
   * Returns the list of a parent; null for a parent that has none, which needs `isNullIfEmpty`. `chains` is what the arguments
   * for chains select; null for upstream's default.
   */
  readonly list: (
    parent: Parent,
    chains: string | null,
    args: InputShapeFromFields<Args>,
    context: Context,
  ) => List | null;
  /**
   * What the arguments do beside the list that they select, and those of fields of its items, which `below` returns. Default:
   * nothing. Throws BAD_USER_INPUT.
   */
  readonly reading?: (args: InputShapeFromFields<Args>, below: ArgumentsOfItems) => ListReading<Item>;
  /** The chain that the list is on, where the parent says it. */
  readonly chainOf?: (parent: Parent) => number;
  /**
   * Whether the connection is null, without an error, for a parent that has no list, and where the list is empty because
   * there is none. Default: false.
   */
  readonly isNullIfEmpty?: boolean;
  /** Adds fields to the connection. */
  readonly extend?: (connection: ObjectRef<BuilderTypes, ListConnection>) => void;
  /** A sentence for a client whose operation is too expensive: how the list costs less. */
  readonly advice: string;
};

/** Returns the arguments of each use of a field of the list's items. */
type ArgumentsOfItems = (field: string) => readonly Readonly<Record<string, unknown>>[];

/** How a list is read. */
type ListReading<Item> = {
  /** The arguments that name another list upstream. */
  readonly filters: unknown;
  /** Details that no field asks for by being selected. */
  readonly details: Details;
  /** Leaves items out: all pages are shared with those who don't. `key` names the filter in cursors. */
  readonly filter: { readonly key: string; readonly passes: (item: Item) => boolean } | null;
};

/**
 * Adds the list of a lookup to `parent`, as a connection: pages, cursors, chains, cost, details by what is selected, and
 * `@stream`. The field is named after the lookup. Returns the lookup.
 */
export const listField = <Parent, List extends AnyList, Item extends object, Args extends InputFieldMap>(
  parent: ObjectRef<BuilderTypes, Parent>,
  lookup: ListLookup<List, Item>,
  {
    item,
    items,
    description,
    args: own,
    list: listOf,
    reading: readingOf,
    chainOf,
    isNullIfEmpty = false,
    extend,
    advice,
  }: Options<Parent, List, Item, Args>,
): ListLookup<List, Item> => {
  type Values = PageArgs & ChainArgs & InputShapeFromFields<Args>;
  const { name, maxItems, supportedAs } = lookup;
  const paging = pageArguments(maxItems, name);
  const detailsSelectedBelow = selectedDetails(lookup);
  const connection = lookupConnectionType({ name: item.name, list: items }, item, lookup);
  extend?.(connection);
  const resolve = async (source: Parent, args: Values, context: Context, info: GraphQLResolveInfo) => {
    const { first, after, chainIds, chainTags } = args;
    const chains = chainsParameter(chainIds, chainTags);
    context.chains.assertKnown(chainIds, chainTags);
    const below: ArgumentsOfItems = (field) =>
      argumentsOfNext(selectionOf(info), getNamedType(info.returnType), info.fieldNodes, item.name, field);
    const { details = NO_DETAILS, filter = null } = readingOf?.(args, below) ?? {};
    const list = listOf(source, chains, args, context);
    const size = paging.sizeOf({ first });
    if (list === null) return null;
    const named = chainOf ? [chainOf(source)] : chainIds;
    if (chainOf) context.chains.assertKnown(named);
    if (supportedAs) context.chains.assertSupported(supportedAs, named);
    const wanted = unionOf([detailsSelectedBelow(info, context), details]);
    const read = lookup.read(context.lookups, list, wanted);
    let isEmpty = false;
    const connection = await connect({
      read: async (at) => {
        const page = await offered(supportedAs, read(at));
        // An empty page with a warning is what is known of a list that exists.
        isEmpty ||=
          at.offset === null &&
          page.items.length === 0 &&
          page.nextOffset === null &&
          page.partialErrors === null;
        // What a page says about all of its items does not hold for a part of them.
        return filter === null ? page : { ...page, more: null };
      },
      cursors: context.cursorsOf([name, ...Object.values(list), ...(filter ? [filter.key] : [])]),
      first: size,
      after,
      streams: streamsLists(info),
      passes: filter?.passes ?? null,
    });
    return isNullIfEmpty && isEmpty ? null : connection;
  };
  builder.objectField(parent, name, (t) =>
    t.field({
      type: connection,
      nullable: true,
      description,
      authScopes: { wallets: true },
      args: { ...paging.args, ...own },
      extensions: {
        ...(isNullIfEmpty ? {} : semanticNonNull()),
        ...withCost<Values>({
          count: paging.sizeOf,
          lookup({ first, chainIds, chainTags, ...filters }, pricing, below) {
            const chains = chainsParameter(chainIds, chainTags);
            const reading = readingOf?.(filters as never, (field) => below(field, item.name)) ?? null;
            const size = paging.sizeOf({ first });
            const most =
              reading?.filter && size > 0 && !lookup.isWhole
                ? lookup.pageSizes.older * MAX_FILTERED_PAGES
                : size;
            const page = smallestPage(lookup, pricing, (field) => below(field, item.name).length > 0);
            const computeUnits = lookup.priceOf(most, chains, pricing, page ?? undefined);
            const { details = NO_DETAILS, filters: named = filters } = reading ?? {};
            const slower = page !== null && page < most ? adviceOf(lookup, page) : advice;
            return { list: [chains, named], details, computeUnits, advice: slower };
          },
        }),
      },
      // Pothos can't infer the values of arguments from a type parameter.
      resolve: resolve as never,
    }),
  );
  return lookup;
};

/** The most items of a page with the optional details that are selected; null for as many as without them. */
const smallestPage = (
  { optional = {} }: AnyLookup,
  pricing: Pick<ChainPricing, 'pageWith'>,
  isSelected: (field: string) => boolean,
): number | null => {
  const pages = Object.entries(optional).flatMap(([detail, fields]) => {
    const page = fields.some(isSelected) ? pricing.pageWith(detail) : null;
    return page ?? [];
  });
  return pages.length === 0 ? null : Math.min(...pages);
};

const adviceOf = ({ optional = {}, pageSizes }: AnyLookup, page: number): string =>
  `Without ${Object.values(optional).flat().join(' and ')}, a page of the service has ${pageSizes.newest} items, and no longer ${page}.`;

/** Returns a function that says which details of a lookup the operation selects anywhere below the field. */
export const selectedDetails = ({
  details,
  optional = {},
}: AnyLookup): ((info: GraphQLResolveInfo, context: Pick<Context, 'lookups'>) => Details) => {
  const known = Object.entries({ ...details, ...optional }).map(([detail, fields]) => ({
    detail,
    fields: new Set(fields),
    isOptional: detail in optional,
  }));
  return (info, { lookups }) => {
    const left = lookups.gateway.leavesOut();
    const selected = known.filter(
      // Where the service does not leave them out, each page has them.
      ({ detail, fields, isOptional }) => (!isOptional || left.has(detail)) && selectsBelow(info, fields),
    );
    return selected.length === 0 ? NO_DETAILS : detailsOf(selected.map(({ detail }) => detail));
  };
};
