import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isObjectType,
  isScalarType,
} from 'graphql';
import type { EdgeField, ListPlan, Plan, PlanField } from '../../upstream/parse/plan.ts';
import { collectFields, type OperationInfo } from '../cost/operation-info.ts';
import { deriveOf } from './derived-field.ts';

/** The part of an operation that decides which fields it selects. */
export type SelectionInfo = Pick<OperationInfo, 'schema' | 'fragments' | 'variableValues'>;

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
    if (field === undefined || !isPlannable(field)) throw unknownField(type, name);
    if (deriveOf(field)) return { kind: 'derived', key, name: `${type.name}.${name}` };
    const record = recordTypeOf(field.type);
    const plan = record && compileRecord(info, record, uses);
    return { kind: 'property', key, property: exposedProperty(field) ?? name, plan };
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

/**
 * Whether a plan can write a field: it has no arguments, needs no scope, and is a property of its record or derived from
 * it. The JSON of its value is then what JSON.stringify makes of the property.
 */
export const isPlannable = (field: GraphQLField<unknown, unknown>): boolean =>
  field.args.length === 0 &&
  !hasScopes(field) &&
  (exposedProperty(field) !== undefined || deriveOf(field) !== undefined) &&
  isWrittenAsIs(field.type);

/** Whether only some callers may read a field, or the fields of a type. */
export const hasScopes = ({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): boolean => {
  const { authScopes } = (extensions.pothosOptions ?? {}) as { readonly authScopes?: unknown };
  return authScopes !== undefined;
};

/** Returns the property that Pothos' `expose` gave the field; undefined for a field with a resolver of its own. */
const exposedProperty = ({ extensions }: GraphQLField<unknown, unknown>): string | undefined =>
  extensions.pothosExposedField as string | undefined;

const isWrittenAsIs = (type: GraphQLOutputType): boolean => {
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues().every(({ name, value }) => name === value);
  return isScalarType(named) || isObjectType(named);
};

const unknownField = (type: GraphQLObjectType, name: string): TypeError =>
  new TypeError(`Expected a field of ${type.name} that a plan can write, got ${name}.`);
