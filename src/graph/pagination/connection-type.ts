import type { ObjectRef } from '@pothos/core';
import type { Answer } from '../answer/answer.ts';
import { type BuilderTypes, builder } from '../builder.ts';
import { withCost } from '../cost/field-cost.ts';
import type { ItemConnection, ItemEdge, PageInfo } from './connection.ts';

type ConnectionFields<Page, Edge, Node> = {
  /** Names the type `{name}Connection`. */
  readonly name: string;
  readonly description: string;
  readonly edge: ObjectRef<BuilderTypes, Edge>;
  readonly node: ObjectRef<BuilderTypes, Node>;
  /** A sentence on when an edge, or a node, is null. */
  readonly whenNull: string;
  readonly edges: (page: Page, answer: Answer) => AnswerList;
  readonly nodes: (page: Page, answer: Answer) => AnswerList;
};

/** The items of a page as the executor takes them: a list, or a list in slices. */
type AnswerList = AsyncIterable<unknown> | readonly unknown[];

/** Defines a connection type with the fields that every connection has: edges, nodes and pageInfo. */
export const connectionType = <
  Page extends { readonly pageInfo: PageInfo },
  Edge extends object,
  Node extends object,
>({
  name,
  description,
  edge,
  node,
  whenNull,
  edges,
  nodes,
}: ConnectionFields<Page, Edge, Node>): ObjectRef<BuilderTypes, Page> =>
  builder.objectRef<Page>(`${name}Connection`).implement({
    description,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        nullable: { list: false, items: true },
        description: `The items of the page, each with its cursor. ${whenNull}`,
        // Pothos has no type for a list in slices whose items may fail.
        resolve: (page, _args, { answer }) => edges(page, answer) as never,
      }),
      nodes: t.field({
        type: [node],
        nullable: { list: false, items: true },
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

/** What a connection's types are called and said to be. */
type Naming = {
  /** Of `{name}Connection` and `{name}Edge`. */
  readonly name: string;
  /** Whose list it is, and of what: "a wallet's transactions". */
  readonly list: string;
};

type ListTypes<Value> = {
  readonly connection: ObjectRef<BuilderTypes, ItemConnection<Value>>;
  readonly edge: ObjectRef<BuilderTypes, ItemEdge<Value>>;
};

/** The types of a connection over upstream pages whose items are `node`. */
export const listConnectionTypes = <Value extends object>(
  { name, list }: Naming,
  node: ObjectRef<BuilderTypes, Value>,
): ListTypes<Value> => {
  const edge = builder.objectRef<ItemEdge<Value>>(`${name}Edge`).implement({
    description: `One of ${list}, and its place among them.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor', {
        description: 'Pass it as `after`: it stays right while new items arrive at the head.',
        extensions: withCost({ bytes: 280 }),
      }),
      node: t.field({
        type: node,
        nullable: true,
        description: 'Never null: what the service sent and this gateway can not read has no edge.',
        // Pothos can't see through a type parameter that a node is no list.
        resolve: (entry) => entry.node as never,
      }),
    }),
  });
  const connection = connectionType<ItemConnection<Value>, ItemEdge<Value>, Value>({
    name,
    description: `A page of ${list}.`,
    edge,
    node,
    whenNull: "Null, with an UPSTREAM_INVALID_RESPONSE error, for an item that can't be parsed.",
    edges: (page, answer) => answer.list(page.entries, page.edgeOf),
    nodes: (page, answer) => answer.list(page.entries, page.nodeOf),
  });
  return { connection, edge };
};

/** The connection's type of a lookup of a wallet's, which says how fresh and how whole its pages are. */
export const itemConnectionType = <Value extends object>(
  name: string,
  node: ObjectRef<BuilderTypes, Value>,
  plural: string,
): ObjectRef<BuilderTypes, ItemConnection<Value>> => {
  const { connection } = listConnectionTypes({ name, list: `a wallet's ${plural}` }, node);
  builder.objectFields(connection, (t) => ({
    requestTime: t.expose('requestTime', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the service received the oldest upstream request behind this page: how fresh the page is. Null when none was needed, or the service does not say.',
    }),
    responseTime: t.expose('responseTime', {
      type: 'DateTime',
      nullable: true,
      description: 'When the service answered that request. Null as requestTime is.',
    }),
    partialErrors: t.expose('partialErrors', {
      type: 'JSON',
      nullable: true,
      description:
        'What the service said went wrong for part of the answer (its errors and warnings), else null.',
    }),
  }));
  return connection;
};
