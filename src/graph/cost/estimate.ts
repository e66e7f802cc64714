import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import type { Scope } from '../../scopes.ts';
import type { ChainPricing } from '../../upstream/client/request.ts';
import type { GlobalId } from '../global-id.ts';
import { type BilledLookup, billableTypes, evaluateCost } from './field-cost.ts';
import { collectFields, type Operation, readOperation } from './operation-info.ts';
import { rememberEstimates } from './remembered-estimates.ts';

/** The field with the largest part of a cost. */
type CostliestField = {
  /** Its path in the answer, with dots. */
  readonly path: string;
  readonly computeUnits: number;
  /** How it costs less; undefined where the field declares no advice. */
  readonly advice: string | undefined;
};

export type Cost = {
  readonly computeUnits: number;
  /** Null for an operation that costs nothing. */
  readonly costliest: CostliestField | null;
};

/** Returns the most that an operation may cost a caller with these scopes. A field outside them costs nothing. */
export type Estimate = (operation: Operation, scopes: ReadonlySet<Scope>) => Cost;

/** The cost of one list of one object, and the field that reads it. */
type LineItem = BilledLookup & { readonly path: string };

/** The object with this key; or `times` objects whose ids are not known yet, as for the items of a list. */
type CostNode = { readonly type: GraphQLObjectType; readonly key: string; readonly times: number };

/**
 * Estimates cost from an operation's document and variables, and from what the fields declare (see FieldCost). The
 * estimate is an upper bound: no page is cached, each list is as long as its arguments allow, and each upstream page is
 * full. An operation that will not run costs nothing.
 */
export const createEstimate = (schema: GraphQLSchema, pricing: ChainPricing): Estimate => {
  const billable = billableTypes(schema);
  return rememberEstimates((operation, scopes) => {
    const root = readOperation(schema, operation, scopes);
    const prices = new ReadPrices(pricing);
    if (root === null) return { value: total([]), isCurrent: prices.areCurrent };
    const { info, type, selectionSet } = root;
    const lineItems = new Map<string, LineItem>();

    /** Lookups of one list of one object count once, at the larger cost. */
    const charge = (list: string, item: LineItem, objects: readonly CostNode[]): void => {
      for (const { key, times } of objects) {
        const line = `${key}.${list}`;
        const computeUnits = item.computeUnits * times;
        if (computeUnits > (lineItems.get(line)?.computeUnits ?? 0))
          lineItems.set(line, { ...item, computeUnits });
      }
    };
    const visitObjects = (
      objects: readonly CostNode[],
      selectionSets: readonly SelectionSetNode[],
      path: readonly string[],
    ): void => {
      for (const [parent, sameType] of Map.groupBy(objects, (object) => object.type))
        for (const [name, nodes] of collectFields(info, parent, selectionSets))
          visitField(parent, sameType, nodes, [...path, name]);
    };
    const visitField = (
      parent: GraphQLObjectType,
      objects: readonly CostNode[],
      nodes: readonly FieldNode[],
      path: readonly string[],
    ): void => {
      const [node] = nodes;
      const field = node && parent.getFields()[node.name.value];
      if (!field) return;
      const declared = evaluateCost(field, node, info, (cost, args) => ({
        lookup: cost.lookup?.(args, prices),
        returns: cost.returns?.(args),
        count: cost.count?.(args) ?? 1,
        name: `${field.name}${JSON.stringify(args)}`,
      }));
      if (declared === null) return;
      const { lookup, returns } = declared;
      if (lookup)
        charge(`${field.name}${JSON.stringify(lookup.list)}`, { ...lookup, path: path.join('.') }, objects);
      const returned = getNamedType(field.type);
      if (!billable.has(returned)) return;
      visitObjects(
        returns
          ? knownObjects(schema, returned, returns)
          : unknownObjects(schema, returned, objects, declared),
        nodes.flatMap((each) => each.selectionSet ?? []),
        path,
      );
    };

    visitObjects([{ type, key: '', times: 1 }], [selectionSet], []);
    return { value: total([...lineItems.values()]), isCurrent: prices.areCurrent };
  });
};

/** The prices that an estimate has read: they may change later. */
class ReadPrices {
  readonly #pricing: ChainPricing;
  readonly #read: { readonly resource: string; readonly chains: string | null; readonly price: number }[] =
    [];

  constructor(pricing: ChainPricing) {
    this.#pricing = pricing;
  }

  priceOf(resource: string, chains: string | null): number {
    const price = this.#pricing.priceOf(resource, chains);
    this.#read.push({ resource, chains, price });
    return price;
  }

  readonly areCurrent = (): boolean =>
    this.#read.every(({ resource, chains, price }) => this.#pricing.priceOf(resource, chains) === price);
}

const total = (items: readonly LineItem[]): Cost => {
  const fields = [...Map.groupBy(items, ({ path }) => path)].map(([path, ofField]) => ({
    path,
    computeUnits: sumOf(ofField),
    advice: ofField[0]?.advice,
  }));
  const costliest = fields.toSorted((one, other) => other.computeUnits - one.computeUnits)[0] ?? null;
  return { computeUnits: sumOf(items), costliest };
};

const sumOf = (items: readonly LineItem[]): number =>
  items.reduce((sum, { computeUnits }) => sum + computeUnits, 0);

const possibleTypes = (schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] => {
  if (isAbstractType(type)) return schema.getPossibleTypes(type);
  return isObjectType(type) ? [type] : [];
};

/** Returns each object once, however often `ids` names it. An id of another type returns no object. */
const knownObjects = (
  schema: GraphQLSchema,
  returned: GraphQLNamedType,
  ids: readonly GlobalId[],
): CostNode[] => {
  const types = new Map(possibleTypes(schema, returned).map((type) => [type.name, type]));
  const objects = new Map<string, CostNode>();
  for (const { typename, id } of ids) {
    const type = types.get(typename);
    const key = `${typename}:${id}`;
    if (type) objects.set(key, { type, key, times: 1 });
  }
  return [...objects.values()];
};

/** An object of an abstract type may be of any of its possible types: each of them counts. */
const unknownObjects = (
  schema: GraphQLSchema,
  returned: GraphQLNamedType,
  parents: readonly CostNode[],
  { name, count }: { readonly name: string; readonly count: number },
): CostNode[] =>
  possibleTypes(schema, returned).flatMap((type) =>
    parents.map((parent) => ({ type, key: `${parent.key}.${name}`, times: parent.times * count })),
  );
