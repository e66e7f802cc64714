import { brandWithType } from '@pothos/core';
import { resolveNodes } from '@pothos/plugin-relay';
import { type GraphQLResolveInfo, isObjectType } from 'graphql';
import type { Context } from '../context.ts';
import { forbidden, scopeOfType } from './authorization.ts';
import { builder } from './builder.ts';
import { withCost } from './cost/field-cost.ts';
import { badUserInput, clientError } from './errors.ts';
import { decodeGlobalId, type GlobalId } from './global-id.ts';

const MAX_NODES = 100;

const Node = builder.nodeInterfaceRef();

/** Which scope is needed says the type that an id names, each id for itself: see `loadNode`. */
const authScopes = () => true;

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'The object of this id. Null when it is gone; BAD_USER_INPUT when no Node has such an id.',
    authScopes,
    args: { id: t.arg.id({ required: true, description: 'Whose object.' }) },
    extensions: withCost<{ id: string }>({ returns: ({ id }) => [decodeGlobalId(id)] }),
    resolve: (_root, { id }, context, info) => loadNode(id, context, info),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `The objects of these ids, in their order, null for what is gone; an id that is repeated is loaded once; at most ${MAX_NODES}. More are OPERATION_TOO_COMPLEX.`,
    authScopes,
    args: { ids: t.arg.idList({ required: true, description: 'Whose objects.' }) },
    extensions: withCost<{ ids: readonly string[] }>({
      returns: ({ ids }) => (ids.length > MAX_NODES ? [] : ids.flatMap(readableId)),
    }),
    resolve: (_root, { ids }, context, info) => {
      if (ids.length > MAX_NODES)
        throw clientError('OPERATION_TOO_COMPLEX', `Expected at most ${MAX_NODES} ids, got ${ids.length}.`);
      // One by one, so that one that fails leaves the others whole; the loaders merge them again.
      const loading = new Map([...new Set(ids)].map((id) => [id, loadNode(id, context, info)]));
      return ids.map((id) => loading.get(id) ?? null);
    },
  }),
}));

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
  // Pothos does so only after an id that is asked for twice has had its second answer.
  brandWithType(node, globalId.typename as never);
  return node;
};

/** None for what is no id: it fails alone, and the others are loaded. */
const readableId = (id: string): readonly GlobalId[] => {
  try {
    return [decodeGlobalId(id)];
  } catch {
    return [];
  }
};
