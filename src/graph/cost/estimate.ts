import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isAbstractType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Scope } from '../../scopes.ts';
import type { ChainPricing } from '../../upstream/chain-pricing.ts';
import { scopeOfField } from '../authorization.ts';
import type { GlobalId } from '../global-id.ts';
import { billableTypes } from './billable-types.ts';
import { collectFields, type DocumentInfo } from './collect-fields.ts';
import { type BilledLookup, costOf, type FieldCost } from './field-cost.ts';

export type Operation = {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
};

/** The field that the largest part of a cost is for. */
type CostliestField = {
  /** By the names that the answer would have. */
  readonly path: string;
  readonly computeUnits: number;
  /** How to have it cost less; undefined where it says nothing of that. */
  readonly advice: string | undefined;
};

export type Cost = {
  readonly computeUnits: number;
  /** Null for an operation that costs nothing. */
  readonly costliest: CostliestField | null;
};

/** What an operation may cost at most when it may use these scopes: what it may not use asks for nothing. */
export type Estimate = (operation: Operation, scopes: ReadonlySet<Scope>) => Cost;

/** What one list of one object may cost, and the field that asks for it. */
type LineItem = BilledLookup & { readonly path: string };

/** One object that `key` names, or `times` so many that nobody can name yet. */
type CostNode = { readonly type: GraphQLObjectType; readonly key: string; readonly times: number };

/**
 * Reads what an operation may cost from its document and variables, as its fields tell it (see FieldCost), and from
 * nothing else: as if no page were kept, every list as long as it may be, and every page of the service full.
 * Nothing for an operation that will not run at all.
 */
export const createEstimate = (schema: GraphQLSchema, pricing: ChainPricing): Estimate => {
  const costly = billableTypes(schema);
  return (operation, scopes) => {
    const root = readOperation(schema, operation);
    if (root === null) return total([]);
    const { reading, type, selectionSet } = root;
    const lineItems = new Map<string, LineItem>();

    const charge = (list: string, item: LineItem, subjects: readonly CostNode[]): void => {
      for (const { key, times } of subjects) {
        const line = `${key}.${list}`;
        const computeUnits = item.computeUnits * times;
        if (computeUnits > (lineItems.get(line)?.computeUnits ?? 0))
          lineItems.set(line, { ...item, computeUnits });
      }
    };
    const mayUse = (field: GraphQLField<unknown, unknown>): boolean => {
      const scope = scopeOfField(field);
      return scope === undefined || scopes.has(scope);
    };
    const walk = (
      subjects: readonly CostNode[],
      selectionSets: readonly SelectionSetNode[],
      above: readonly string[],
    ): void => {
      for (const [parent, alike] of Map.groupBy(subjects, (subject) => subject.type))
        for (const [name, nodes] of collectFields(reading, parent, selectionSets))
          visit(parent, alike, nodes, [...above, name]);
    };
    const visit = (
      parent: GraphQLObjectType,
      subjects: readonly CostNode[],
      nodes: readonly FieldNode[],
      path: readonly string[],
    ): void => {
      const [node] = nodes;
      const field = node && parent.getFields()[node.name.value];
      const fieldCost = node && field && ask(field, node, reading, pricing);
      if (!field || !fieldCost || !mayUse(field)) return;
      if (fieldCost.billedLookup)
        charge(
          `${field.name}${JSON.stringify(fieldCost.billedLookup.list)}`,
          { ...fieldCost.billedLookup, path: path.join('.') },
          subjects,
        );
      const type = getNamedType(field.type);
      if (!costly.has(type)) return;
      walk(
        fieldCost.returns
          ? knownObjects(schema, type, fieldCost.returns)
          : unknownObjects(schema, type, subjects, fieldCost),
        nodes.flatMap((each) => each.selectionSet ?? []),
        path,
      );
    };

    walk([{ type, key: '', times: 1 }], [selectionSet], []);
    return total([...lineItems.values()]);
  };
};

const total = (items: readonly LineItem[]): Cost => {
  const fields = [...Map.groupBy(items, ({ path }) => path)].map(([path, alike]) => ({
    path,
    computeUnits: sumOf(alike),
    advice: alike[0]?.advice,
  }));
  const costliest = fields.toSorted((one, other) => other.computeUnits - one.computeUnits)[0] ?? null;
  return { computeUnits: sumOf(items), costliest };
};

const sumOf = (items: readonly LineItem[]): number =>
  items.reduce((sum, { computeUnits }) => sum + computeUnits, 0);

/** What is needed to read an operation before it runs; null for one that will not run at all. */
export const readOperation = (
  schema: GraphQLSchema,
  { document, operationName, variableValues }: Operation,
) => {
  const operation = getOperationAST(document, operationName);
  const type = operation && schema.getRootType(operation.operation);
  if (!operation || !type) return null;
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 1,
  });
  if (variables.variableValues === undefined) return null;
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const reading: DocumentInfo = {
    schema,
    fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
    variableValues: variables.variableValues,
  };
  return { reading, type, selectionSet: operation.selectionSet };
};

/** What a field tells of this use of it; null when it will be refused. */
const ask = (
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variableValues }: DocumentInfo,
  pricing: ChainPricing,
) => {
  const cost: FieldCost<Record<string, unknown>> = costOf(field) ?? {};
  try {
    const args = getArgumentValues(field, node, variableValues);
    return {
      billedLookup: cost.lookup?.(args, pricing),
      returns: cost.returns?.(args),
      times: cost.count?.(args) ?? 1,
      name: `${field.name}${JSON.stringify(args)}`,
    };
  } catch (error) {
    if (error instanceof GraphQLError) return null;
    throw error;
  }
};

const possibleTypes = (schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] => {
  if (isAbstractType(type)) return schema.getPossibleTypes(type);
  return isObjectType(type) ? [type] : [];
};

/** Each once, however often it is named; an id of another type gives nothing. */
const knownObjects = (
  schema: GraphQLSchema,
  given: GraphQLNamedType,
  ids: readonly GlobalId[],
): CostNode[] => {
  const types = new Map(possibleTypes(schema, given).map((type) => [type.name, type]));
  const subjects = new Map<string, CostNode>();
  for (const { typename, id } of ids) {
    const type = types.get(typename);
    const key = `${typename}:${id}`;
    if (type) subjects.set(key, { type, key, times: 1 });
  }
  return [...subjects.values()];
};

/** Of an abstract type it may be any: each of them is counted. */
const unknownObjects = (
  schema: GraphQLSchema,
  given: GraphQLNamedType,
  parents: readonly CostNode[],
  { name, times }: { readonly name: string; readonly times: number },
): CostNode[] =>
  possibleTypes(schema, given).flatMap((type) =>
    parents.map((parent) => ({ type, key: `${parent.key}.${name}`, times: parent.times * times })),
  );
