import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from '../context.ts';
import { type BuilderTypes, builder } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { streamsLists } from '../graph/incremental.ts';
import { connect } from '../graph/pagination/connection.ts';
import { lookupConnectionType, type PageArgs, pageArguments } from '../graph/pagination/connection-type.ts';
import { selectsBelow } from '../graph/selection.ts';
import type { AnyList } from '../upstream/list-loader.ts';
import type { ListLookup } from '../upstream/list-lookup.ts';
import { detailsOf } from '../upstream/page.ts';
import { type ChainArgs, chainsParameter } from './chains-schema.ts';

type Options<Parent, List extends AnyList, Item, Args extends InputFieldMap> = {
  /** The items' type. It names the connection and its edges. */
  readonly item: ObjectRef<BuilderTypes, Item>;
  /** Names the list in descriptions: "a wallet's transactions". */
  readonly items: string;
  readonly description: string;
  /** The arguments beside `first` and `after`: `chainArguments`, and those of the list. */
  readonly args: Args;
  /**
   * Returns the list of a parent; null for a parent that has none. `chains` is what the arguments for chains select; null for
   * upstream's default.
   */
  readonly list: (parent: Parent, chains: string | null, args: InputShapeFromFields<Args>) => List | null;
  /** The chain that the list is on, where the parent says it. */
  readonly chainOf?: (parent: Parent) => number;
  /** Whether an empty list means that there is none: then the connection is null. Default: false. */
  readonly isNullIfEmpty?: boolean;
  /** A sentence for a client whose operation is too expensive: how the list costs less. */
  readonly advice: string;
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
    chainOf,
    isNullIfEmpty = false,
    advice,
  }: Options<Parent, List, Item, Args>,
): ListLookup<List, Item> => {
  type Values = PageArgs & ChainArgs & InputShapeFromFields<Args>;
  const { name, maxItems, supportedAs } = lookup;
  const paging = pageArguments(maxItems, name);
  const connection = lookupConnectionType({ name: item.name, list: items }, item, lookup);
  const details = Object.entries(lookup.details).map(
    ([detail, fields]) => [detail, new Set(fields)] as const,
  );
  const resolve = async (source: Parent, args: Values, context: Context, info: GraphQLResolveInfo) => {
    const { first, after, chainIds, chainTags } = args;
    const chains = chainsParameter(chainIds, chainTags);
    context.chains.assertKnown(chainIds, chainTags);
    const list = listOf(source, chains, args);
    const size = paging.sizeOf({ first });
    if (list === null) return null;
    const named = chainOf ? [chainOf(source)] : chainIds;
    if (chainOf) context.chains.assertKnown(named);
    if (supportedAs) context.chains.assertSupported(supportedAs, named);
    const selected = details.filter(([, fields]) => selectsBelow(info, fields)).map(([detail]) => detail);
    const readPage = lookup.read(context.lookups, list, detailsOf(selected));
    let isEmpty = false;
    const connection = await connect({
      read: async (at) => {
        const page = await readPage(at);
        isEmpty ||= at.offset === null && page.items.length === 0 && page.nextOffset === null;
        return page;
      },
      cursors: context.cursorsOf([name, ...Object.values(list)]),
      first: size,
      after,
      streams: streamsLists(info),
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
      extensions: withCost<Values>({
        count: paging.sizeOf,
        lookup({ first, chainIds, chainTags, ...filters }, pricing) {
          const chains = chainsParameter(chainIds, chainTags);
          const computeUnits = lookup.priceOf(paging.sizeOf({ first }), chains, pricing);
          return { list: [chains, filters], computeUnits, advice };
        },
      }),
      // Pothos can't infer the values of arguments from a type parameter.
      resolve: resolve as never,
    }),
  );
  return lookup;
};
