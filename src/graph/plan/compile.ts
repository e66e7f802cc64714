import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { IndexedList } from '../../upstream/kernel/compile-list.ts';
import type { EdgeField, ListPlan, Plan, PlanField } from '../../upstream/parse/record.ts';
import { collectFields, type SelectionInfo } from '../cost/operation-info.ts';
import {
  assertOpen,
  assertPlain,
  assertPlannable,
  derivedOf,
  exposedProperty,
  unwritable,
  viewedBy,
} from './plannable.ts';

/** Compiles the selection of a list of nodes. `nodes` are the uses of the list's field, which GraphQL merges. */
export const compileNodes = (
  info: SelectionInfo,
  node: GraphQLObjectType,
  nodes: readonly FieldNode[],
): ListPlan => ({ kind: 'nodes', node: compileRecord(info, node, nodes) });

/** As `compileNodes`, for a list of edges. */
export const compileEdges = (
  info: SelectionInfo,
  edge: GraphQLObjectType,
  nodes: readonly FieldNode[],
): ListPlan => ({
  kind: 'edges',
  typeName: edge.name,
  fields: selectedFields(info, edge, nodes).map(([key, name, uses]): EdgeField => {
    if (name === '__typename') return { kind: 'typename', key };
    if (name === 'cursor') return { kind: 'cursor', key };
    const type = recordTypeOf(edge.getFields()[name]?.type);
    if (name !== 'node' || type === null) throw unknownField(edge, name);
    return { kind: 'node', key, plan: compileRecord(info, type, uses) };
  }),
});

const compileRecord = (info: SelectionInfo, type: GraphQLObjectType, nodes: readonly FieldNode[]): Plan => ({
  typeName: type.name,
  fields: selectedFields(info, type, nodes).map(([key, name, uses]): PlanField => {
    if (name === '__typename') return { kind: 'typename', key };
    const field = type.getFields()[name];
    const derived = field && derivedOf(field);
    if (derived) return { kind: 'derived', key, field: derived };
    const view = field && viewedBy(field);
    const nested = recordTypeOf(field?.type);
    if (view && nested) return { kind: 'view', key, view, plan: compileRecord(info, nested, uses) };
    const property = field && exposedProperty(field);
    if (property === undefined) throw unknownField(type, name);
    const plan = nested && compileRecord(info, nested, uses);
    return { kind: 'property', key, property, plan };
  }),
});

/** Returns the response keys of an object in their order, each with the name of its field and all its uses. */
const selectedFields = (
  info: SelectionInfo,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): (readonly [key: string, name: string, uses: readonly FieldNode[]])[] =>
  [
    ...collectFields(
      info,
      type,
      nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    ),
  ].map(([key, uses]) => [key, uses[0]?.name.value ?? '', uses]);

const recordTypeOf = (type: GraphQLOutputType | undefined): GraphQLObjectType | null => {
  const named = type && getNamedType(type);
  return isObjectType(named) ? named : null;
};

const unknownField = (type: GraphQLObjectType, name: string): TypeError =>
  new TypeError(`Expected a field of ${type.name} that a plan can write, got ${name}.`);

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
