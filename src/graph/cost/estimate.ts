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
import type { ChainPricing } from '../../upstream/chain-pricing.ts';
import type { GlobalId } from '../node.ts';
import { type Scope, scopeOfField } from '../scopes.ts';
import { costlyTypes } from './billable-types.ts';
import { collectFields, type Reading } from './collect-fields.ts';
import { costOf, type FieldCost, type Lookup } from './field-cost.ts';

export type Operation = {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
};

/** The field that the largest part of a cost is for. */
type DearestField = {
  /** By the names that the answer would have. */
  readonly path: string;
  readonly computeUnits: number;
  /** How to have it cost less; undefined where it says nothing of that. */
  readonly advice: string | undefined;
};

export type Cost = {
  readonly computeUnits: number;
  /** Null for an operation that costs nothing. */
  readonly dearest: DearestField | null;
};

/** What an operation may cost at most when it may use these scopes: what it may not use asks for nothing. */
export type Estimate = (operation: Operation, scopes: ReadonlySet<Scope>) => Cost;

/** What one list of one object may cost, and the field that asks for it. */
type LineItem = Lookup & { readonly path: string };

/** One object that `key` names, or `times` so many that nobody can name yet. */
type Subject = { readonly type: GraphQLObjectType; readonly key: string; readonly times: number };

/**
 * Reads what an operation may cost from its document and variables, as its fields tell it (see FieldCost), and from
 * nothing else: as if no page were kept, every list as long as it may be, and every page of the service full.
 * Nothing for an operation that will not run at all.
 */
export const createEstimate = (schema: GraphQLSchema, pricing: ChainPricing): Estimate => {
  const costly = costlyTypes(schema);
  return (operation, scopes) => {
    const root = readOperation(schema, operation);
    if (root === null) return total([]);
    const { reading, type, selectionSet } = root;
    const bill = new Map<string, LineItem>();

    const charge = (list: string, item: LineItem, subjects: readonly Subject[]): void => {
      for (const { key, times } of subjects) {
        const line = `${key}.${list}`;
        const computeUnits = item.computeUnits * times;
        if (computeUnits > (bill.get(line)?.computeUnits ?? 0)) bill.set(line, { ...item, computeUnits });
      }
    };
    const mayUse = (field: GraphQLField<unknown, unknown>): boolean => {
      const scope = scopeOfField(field);
      return scope === undefined || scopes.has(scope);
    };
    const walk = (
      subjects: readonly Subject[],
      selectionSets: readonly SelectionSetNode[],
      above: readonly string[],
    ): void => {
      for (const [parent, alike] of Map.groupBy(subjects, (subject) => subject.type))
        for (const [name, nodes] of collectFields(reading, parent, selectionSets))
          visit(parent, alike, nodes, [...above, name]);
    };
    const visit = (
      parent: GraphQLObjectType,
      subjects: readonly Subject[],
      nodes: readonly FieldNode[],
      path: readonly string[],
    ): void => {
      const [node] = nodes;
      const field = node && parent.getFields()[node.name.value];
      const told = node && field && ask(field, node, reading, pricing);
      if (!field || !told || !mayUse(field)) return;
      if (told.lookup)
        charge(
          `${field.name}${JSON.stringify(told.lookup.list)}`,
          { ...told.lookup, path: path.join('.') },
          subjects,
        );
      const type = getNamedType(field.type);
      if (!costly.has(type)) return;
      walk(
        told.gives ? named(schema, type, told.gives) : unnamed(schema, type, subjects, told),
        nodes.flatMap((each) => each.selectionSet ?? []),
        path,
      );
    };

    walk([{ type, key: '', times: 1 }], [selectionSet], []);
    return total([...bill.values()]);
  };
};

const total = (items: readonly LineItem[]): Cost => {
  const fields = [...Map.groupBy(items, ({ path }) => path)].map(([path, alike]) => ({
    path,
    computeUnits: sumOf(alike),
    advice: alike[0]?.advice,
  }));
  const dearest = fields.toSorted((one, other) => other.computeUnits - one.computeUnits)[0] ?? null;
  return { computeUnits: sumOf(items), dearest };
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
  const reading: Reading = {
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
  { variableValues }: Reading,
  pricing: ChainPricing,
) => {
  const cost: FieldCost<Record<string, unknown>> = costOf(field) ?? {};
  try {
    const args = getArgumentValues(field, node, variableValues);
    return {
      lookup: cost.asks?.(args, pricing),
      gives: cost.gives?.(args),
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
const named = (schema: GraphQLSchema, given: GraphQLNamedType, ids: readonly GlobalId[]): Subject[] => {
  const types = new Map(possibleTypes(schema, given).map((type) => [type.name, type]));
  const subjects = new Map<string, Subject>();
  for (const { typename, id } of ids) {
    const type = types.get(typename);
    const key = `${typename}:${id}`;
    if (type) subjects.set(key, { type, key, times: 1 });
  }
  return [...subjects.values()];
};

/** Of an abstract type it may be any: each of them is counted. */
const unnamed = (
  schema: GraphQLSchema,
  given: GraphQLNamedType,
  parents: readonly Subject[],
  { name, times }: { readonly name: string; readonly times: number },
): Subject[] =>
  possibleTypes(schema, given).flatMap((type) =>
    parents.map((parent) => ({ type, key: `${parent.key}.${name}`, times: parent.times * times })),
  );
