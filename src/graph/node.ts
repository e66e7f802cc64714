import { brandWithType } from '@pothos/core';
import { resolveNodes } from '@pothos/plugin-relay';
import { type GraphQLResolveInfo, isObjectType } from 'graphql';
import type { Context } from '../context.ts';
import { forbidden, scopeOfType } from './authorization.ts';
import { builder } from './builder.ts';
import { type BilledLookup, withCost } from './cost/field-cost.ts';
import { badUserInput, clientError } from './errors.ts';
import { decodeGlobalId, type GlobalId } from './global-id.ts';

const MAX_NODES = 100;

const Node = builder.nodeInterfaceRef();

/** The type in each id decides which scope is needed: `loadNode` checks it. */
const authScopes = () => true;

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description:
      'The object with this id. Null when it no longer exists. Fails with BAD_USER_INPUT for an id that is not one of a Node.',
    authScopes,
    args: { id: t.arg.id({ required: true, description: 'The global id of the object.' }) },
    extensions: withCost<{ id: string }>({
      returns: ({ id }) => [decodeGlobalId(id)],
      lookup: ({ id }) => costOfNodes([decodeGlobalId(id)]),
    }),
    resolve: (_root, { id }, context, info) => loadNode(id, context, info),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `The objects with these ids, in the order of the ids. An item is null when its object no longer exists, and null with an error when it fails. A repeated id is loaded once. Fails with OPERATION_TOO_COMPLEX for more than ${MAX_NODES} ids.`,
    authScopes,
    args: {
      ids: t.arg.idList({
        required: true,
        description: `The global ids of the objects, at most ${MAX_NODES}.`,
      }),
    },
    extensions: withCost<{ ids: readonly string[] }>({
      returns: ({ ids }) => (ids.length > MAX_NODES ? [] : ids.flatMap(readableId)),
      lookup: ({ ids }) => costOfNodes(ids.length > MAX_NODES ? [] : ids.flatMap(readableId)),
    }),
    resolve: (_root, { ids }, context, info) => {
      if (ids.length > MAX_NODES)
        throw clientError('OPERATION_TOO_COMPLEX', `Expected at most ${MAX_NODES} ids, got ${ids.length}.`);
      // Loaded one by one, so that one failure does not affect the others. The loaders merge their requests.
      const loading = new Map([...new Set(ids)].map((id) => [id, loadNode(id, context, info)]));
      return ids.map((id) => loading.get(id) ?? null);
    },
  }),
}));

type NodePrice = { readonly computeUnits: number; readonly listOf: (id: string) => string };

/** What loading one node of a type may cost, by the type's name. Types that cost nothing are missing. */
const billedTypes = new Map<string, NodePrice>();

/**
 * Declares that loading a node of the type may cost this many compute units. Several of one list, which `listOf` names, are
 * looked for in it first, at the same price. Throws GraphQLError for an id that is not one of this type.
 */
export const billNodes = (typename: string, computeUnits: number, listOf: NodePrice['listOf']): void =>
  void billedTypes.set(typename, { computeUnits, listOf });

const costOfNodes = (ids: readonly GlobalId[]): BilledLookup => {
  const billed = new Map(
    ids.flatMap(({ typename, id }) => {
      const price = billedTypes.get(typename);
      return price === undefined ? [] : [[`${typename}:${id}`, { id, ...price }]];
    }),
  );
  const lists = Map.groupBy(billed.values(), ({ id, listOf }) => listOf(id));
  const requests = [...lists.values()].flatMap((group) =>
    group.length > 1 ? [...group, ...group.slice(0, 1)] : group,
  );
  return {
    list: [...billed.keys()],
    computeUnits: requests.reduce((sum, { computeUnits }) => sum + computeUnits, 0),
  };
};

const loadNode = async (id: string, context: Context, info: GraphQLResolveInfo): Promise<object | null> => {
  const globalId = decodeGlobalId(id);
  const type = info.schema.getType(globalId.typename);
  const isNode = isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');
  if (!isNode) throw badUserInput(`Expected the id of a Node, got one of type ${globalId.typename}.`);
  const scope = scopeOfType(type);
  if (scope === undefined) throw new TypeError(`Expected ${type.name} to say its scope, got none.`);
  if (!context.scopes.has(scope)) throw forbidden(scope);
  const [loading] = await resolveNodes(builder, context, info, [globalId]);
  const node = (await loading) as object | null;
  // Pothos brands a node only after a repeated id has resolved for the second time.
  brandWithType(node, globalId.typename as never);
  return node;
};

/** Returns an empty list for a malformed id, which fails alone while the others are loaded. */
const readableId = (id: string): readonly GlobalId[] => {
  try {
    return [decodeGlobalId(id)];
  } catch {
    return [];
  }
};
