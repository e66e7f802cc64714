import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { IndexedList } from '../../upstream/kernel/compile-list.ts';
import { assertOpen, assertPlain, assertPlannable, unwritable } from './assert-plannable.ts';

/** The `extensions` of a connection type whose `nodes` and `edges` resolve to a PlannedList of this list's items. */
export const withPlannedLists = (list: IndexedList): { readonly plannedList: IndexedList } => ({
  plannedList: list,
});

/** A field of a connection that plans write. */
export type PlannedField = {
  readonly kind: 'nodes' | 'edges';
  readonly item: GraphQLObjectType;
  readonly list: IndexedList;
  /** The fields below that plans write. */
  readonly writable: ReadonlySet<GraphQLField<unknown, unknown>>;
};

/**
 * Returns the fields of a schema that plans write. Throws TypeError, with the coordinate, where one of them or of their items
 * has what no plan can write.
 */
export const plannedFields = (
  schema: GraphQLSchema,
): ReadonlyMap<GraphQLField<unknown, unknown>, PlannedField> => {
  const planned = new Map<GraphQLField<unknown, unknown>, PlannedField>();
  for (const type of Object.values(schema.getTypeMap())) {
    const list = isObjectType(type) && (type.extensions.plannedList as IndexedList | undefined);
    if (!list) continue;
    const { nodes, edges } = type.getFields();
    const node = nodes && getNamedType(nodes.type);
    const edge = edges && getNamedType(edges.type);
    if (!nodes || !edges || !isObjectType(node) || !isObjectType(edge))
      throw new TypeError(`Expected ${type.name} to have nodes and edges.`);
    assertOpen(type.name, type);
    for (const field of [nodes, edges]) assertPlain(type, field);
    assertEdge(edge);
    const writable = new Set([...assertPlannable(node, list), ...Object.values(edge.getFields())]);
    planned.set(nodes, { kind: 'nodes', item: node, list, writable });
    planned.set(edges, { kind: 'edges', item: edge, list, writable });
  }
  return planned;
};

const assertEdge = (edge: GraphQLObjectType): void => {
  assertOpen(edge.name, edge);
  for (const field of Object.values(edge.getFields())) {
    assertPlain(edge, field);
    if (field.name !== 'cursor' && field.name !== 'node')
      throw unwritable(`${edge.name}.${field.name}`, 'cursor or node', 'another field of an edge');
  }
};
