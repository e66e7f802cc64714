import type { ObjectRef } from '@pothos/core';
import type { MaybePromise } from '../../lib/tasks.ts';
import type { IndexedList } from '../../upstream/kernel/compile-list.ts';
import type { Answer } from '../answer/answer.ts';
import type { AnswerList } from '../answer/weights.ts';
import { type BuilderTypes, builder } from '../builder.ts';
import { withCost } from '../cost/field-cost.ts';
import { badUserInput } from '../errors.ts';
import { withPlannedLists } from '../plan/compile.ts';
import { semanticNonNull } from '../semantic-non-null.ts';
import type { ItemEdge } from './connection.ts';
import type { ListConnection, PageInfo } from './list-connection.ts';

type ConnectionFields<Page, Edge, Node> = {
  /** Names the type `{name}Connection`. */
  readonly name: string;
  readonly description: string;
  readonly edge: ObjectRef<BuilderTypes, Edge>;
  readonly node: ObjectRef<BuilderTypes, Node>;
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** A sentence on when an edge, or a node, is null. */
  readonly whenNull: string;
  readonly edges: (page: Page, answer: Answer) => AnswerList;
  readonly nodes: (page: Page, answer: Answer) => AnswerList;
};

/** Defines a connection type with the fields that every connection has: edges, nodes and pageInfo. */
export const connectionType = <
  Page extends { readonly pageInfo: MaybePromise<PageInfo> },
  Edge extends object,
  Node extends object,
>({
  name,
  description,
  edge,
  node,
  extensions = {},
  whenNull,
  edges,
  nodes,
}: ConnectionFields<Page, Edge, Node>): ObjectRef<BuilderTypes, Page> =>
  builder.objectRef<Page>(`${name}Connection`).implement({
    description,
    extensions,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        nullable: { list: false, items: true },
        extensions: semanticNonNull(1),
        description: `The items of the page, each with its cursor. ${whenNull}`,
        // Pothos has no type for a list in slices whose items may fail.
        resolve: (page, _args, { answer }) => edges(page, answer) as never,
      }),
      nodes: t.field({
        type: [node],
        nullable: { list: false, items: true },
        extensions: semanticNonNull(1),
        description: `The items of the page, for clients that need no cursors. ${whenNull}`,
        resolve: (page, _args, { answer }) => nodes(page, answer) as never,
      }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        description: 'Where the page begins and ends, and whether there are more pages.',
        resolve: ({ pageInfo }) => pageInfo,
      }),
    }),
  });

/** The names and descriptions of a connection's types. */
type Naming = {
  /** Names the types `{name}Connection` and `{name}Edge`. */
  readonly name: string;
  /** Names the list in descriptions: "the key's items". */
  readonly list: string;
};

type ListTypes<Value> = {
  readonly connection: ObjectRef<BuilderTypes, ListConnection>;
  readonly edge: ObjectRef<BuilderTypes, ItemEdge<Value>>;
};

/** Defines the types of a connection over upstream pages whose items are `node`. */
export const listConnectionTypes = <Value extends object>(
  { name, list }: Naming,
  node: ObjectRef<BuilderTypes, Value>,
  extensions: Readonly<Record<string, unknown>> = {},
): ListTypes<Value> => {
  const edge = builder.objectRef<ItemEdge<Value>>(`${name}Edge`).implement({
    description: `One of ${list}, and its cursor.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor', {
        description:
          'The cursor of the item: the connection continues after it when it is passed as `after`. It stays valid while new items arrive at the head.',
        extensions: withCost({ bytes: 280 }),
      }),
      node: t.field({
        type: node,
        nullable: true,
        extensions: semanticNonNull(),
        description: "The item. Never null: an item that can't be parsed has no edge.",
        // Pothos can't infer from a type parameter that a node is not a list.
        resolve: (entry) => entry.node as never,
      }),
    }),
  });
  const connection = connectionType<ListConnection, ItemEdge<Value>, Value>({
    name,
    description: `A page of ${list}.`,
    edge,
    node,
    extensions,
    whenNull: "Null, with an UPSTREAM_INVALID_RESPONSE error, for an item that can't be parsed.",
    edges: (page, answer) => page.edges(answer),
    nodes: (page, answer) => page.nodes(answer),
  });
  return { connection, edge };
};

/**
 * Defines the connection type of a lookup, whose pages are those of `list`. It also says how fresh and how complete its pages
 * are.
 */
export const lookupConnectionType = <Value extends object>(
  naming: Naming,
  node: ObjectRef<BuilderTypes, Value>,
  list: IndexedList,
): ObjectRef<BuilderTypes, ListConnection> => {
  const { connection } = listConnectionTypes(naming, node, withPlannedLists(list));
  builder.objectFields(connection, (t) => ({
    requestTime: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the service received the oldest upstream request behind this page: it shows how fresh the page is. Null when no request was needed, and when the service omits it.',
      resolve: ({ requestTime }) => requestTime,
    }),
    responseTime: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the service answered that request. Null when `requestTime` is.',
      resolve: ({ responseTime }) => responseTime,
    }),
    partialErrors: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The errors and warnings that the service sent for a part of the data. Null when it sent none.',
      resolve: ({ partialErrors }) => partialErrors,
    }),
  }));
  return connection;
};

/** The values of the page arguments of a connection over upstream pages. */
export type PageArgs = {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
};

const DEFAULT_FIRST = 20;

/**
 * Returns the page arguments of a connection, and how to read them. A page has at most `max` items; `items` names them in
 * error sentences.
 */
export const pageArguments = (max: number, items: string) => ({
  args: builder.args((t) => ({
    first: t.int({ description: `How many items, from 0 to ${max}. Default: ${DEFAULT_FIRST}.` }),
    after: t.string({
      description:
        'Only items after this cursor. It must be a cursor of this connection under the same filters, else the connection fails with INVALID_CURSOR. It fails with CURSOR_EXPIRED when the place of its item can no longer be found.',
    }),
  })),
  /** Returns the number of items that a page may have. Throws BAD_USER_INPUT for a `first` out of range. */
  sizeOf({ first }: PageArgs): number {
    const size = first ?? DEFAULT_FIRST;
    if (size < 0 || size > max) throw badUserInput(`Expected first from 0 to ${max} ${items}, got ${size}.`);
    return size;
  },
});
