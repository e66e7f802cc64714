import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { Scope } from '../../scopes.ts';
import type { ChainPricing } from '../../upstream/client/request.ts';
import { type Details, NO_DETAILS, requestsFor } from '../../upstream/page.ts';
import type { GlobalId } from '../global-id.ts';
import { type BilledLookup, billableTypes, DEFAULT_ITEMS, defaultBytes, evaluateCost } from './field-cost.ts';
import {
  argumentsOfNext,
  collectFields,
  collectParts,
  isStreamed,
  labelBytes,
  type Operation,
  type OperationInfo,
  readOperation,
} from './operation-info.ts';
import { type Prices, rememberEstimates } from './remembered-estimates.ts';

/** The field with the largest part of a cost. */
type CostliestField = {
  /** Its path in the answer, with dots. */
  readonly path: string;
  readonly computeUnits: number;
  /** How to make it cheaper; undefined if the field gives no advice. */
  readonly advice: string | undefined;
};

/** The most that an operation may cost upstream. */
export type Cost = {
  readonly computeUnits: number;
  /** Null for an operation that costs nothing. */
  readonly costliest: CostliestField | null;
};

type PartsPerItem = Pick<WeakMap<FieldNode, number>, 'get'>;

/** A field, by its path in the answer, and its bytes in all objects together. */
type Heaviest = { readonly field: string; readonly bytes: number };

/** The size that an answer is expected to have, before it is made. */
export type AnswerEstimate = {
  readonly bytes: number;
  readonly heaviest: Heaviest;
  /** The number of lookups, in all objects together. */
  readonly lookups: number;
  /** The number of deferred fragments and streamed lists, in all objects together. */
  readonly laterParts: number;
  /** The number of objects with fields of a deferred fragment beside those of another part. */
  readonly dividedObjects: number;
  /** What each item of a list without a limited length adds to both numbers; null if no item adds anything. */
  readonly partsPerItem: PartsPerItem | null;
};

/** What an operation may cost, and the size of its answer. */
export type OperationEstimate = Cost & AnswerEstimate;

/** Estimates an operation of a caller with these scopes. A field outside them costs nothing. */
export type Estimate = (operation: Operation, scopes: ReadonlySet<Scope>) => OperationEstimate;

/**
 * Estimates an operation from its document and variables, and from what the fields declare (see FieldCost).
 * - The cost is an upper bound: no page is cached, each list is as long as its arguments allow, and each upstream page is full.
 * - In the answer each paged list counts at its maximum length; inner lists and texts count at their usual size.
 *
 * An operation that will not run costs nothing and has 0 bytes.
 */
export const createEstimate = (schema: GraphQLSchema, pricing: ChainPricing): Estimate => {
  const billable = billableTypes(schema);
  return rememberEstimates(pricing, (operation, scopes, prices) => {
    const root = readOperation(schema, operation, scopes);
    if (root === null) return NOTHING;
    const estimator = new Estimator(root.info, billable, prices);
    return estimator.result(estimator.objectBytes(root.type, [root.selectionSet], ROOT));
  });
};

const NOTHING: OperationEstimate = {
  computeUnits: 0,
  costliest: null,
  bytes: 0,
  heaviest: { field: '', bytes: 0 },
  lookups: 0,
  laterParts: 0,
  dividedObjects: 0,
  partsPerItem: null,
};

/** The cost of one list of one object, and the field that reads it. */
type LineItem = BilledLookup & {
  readonly path: string;
  readonly allDetails: readonly Details[];
  readonly wantedItems: ReadonlySet<string>;
};

/** The object with this key, or `times` objects whose ids are not known yet, such as the items of a list. */
type BilledObject = { readonly key: string; readonly times: number };

/** The place of an object in the answer. */
type Place = {
  readonly path: string;
  /** How many such objects the answer has. */
  readonly times: number;
  /** The length of the object's lists, as its connection's field declares it; null for another object. */
  readonly items: number | null;
  /** What other parts select of the object, where a deferred fragment selects it. */
  readonly others: readonly SelectionSetNode[];
  /** The objects whose lookups are billed, each once even if it is named twice. */
  readonly billed: readonly BilledObject[];
};

const ROOT: Place = { path: '', times: 1, items: null, others: [], billed: [{ key: '', times: 1 }] };

/** What a field declares of one use of it. */
type Declared = {
  readonly lookup: BilledLookup | undefined;
  readonly returns: readonly GlobalId[] | null;
  readonly count: number | null;
  readonly most: number | null;
  readonly items: number;
  readonly bytes: number | null;
  /** Names this use of the field: equal names are equal lists. */
  readonly name: string;
};

/** The size of `"":` and of a comma. */
const NAME_BYTES = 4;
const BRACES = 2;
const COMMA = 1;
const NULL = 4;
/** The size of the envelope of a part, without its data, path and label. */
const PART_BYTES = 60;

const setsOf = (nodes: readonly FieldNode[]): readonly SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

/** Returns the bytes that a part of the answer has beside its data. */
const partBytes = ({ path }: Place, label: number): number => PART_BYTES + Buffer.byteLength(path) + label;

/** Walks an operation once, as its answer is made. */
class Estimator {
  readonly #info: OperationInfo;
  readonly #billable: ReadonlySet<GraphQLNamedType>;
  readonly #prices: Prices;
  /** By the object and the list. */
  readonly #lineItems = new Map<string, LineItem>();
  #heaviest: Heaviest & { readonly declaresCount: boolean } = { field: '', bytes: 0, declaresCount: false };
  #lookups = 0;
  #laterParts = 0;
  #dividedObjects = 0;
  #partsPerItem: WeakMap<FieldNode, number> | null = null;

  constructor(info: OperationInfo, billable: ReadonlySet<GraphQLNamedType>, prices: Prices) {
    this.#info = info;
    this.#billable = billable;
    this.#prices = prices;
  }

  /** `bytes` are those of the root. */
  result(bytes: number): OperationEstimate {
    const { field, bytes: heaviestBytes } = this.#heaviest;
    return {
      ...totalOf([...this.#lineItems.values()].map(withRequests)),
      bytes,
      heaviest: { field, bytes: heaviestBytes },
      lookups: this.#lookups,
      laterParts: this.#laterParts,
      dividedObjects: this.#dividedObjects,
      partsPerItem: this.#partsPerItem,
    };
  }

  /** Returns the bytes of one such object. */
  objectBytes(type: GraphQLObjectType, sets: readonly SelectionSetNode[], place: Place): number {
    const parts = collectParts(this.#info, type, sets);
    const elsewhere = collectFields(this.#info, type, place.others);
    this.#laterParts += (parts.length - 1) * place.times;
    if (place.others.length > 0) this.#dividedObjects += place.times;
    let bytes = parts.length * BRACES + (place.others.length > 0 ? partBytes(place, 0) : 0);
    for (const [index, part] of parts.entries()) {
      if (index > 0) bytes += partBytes(place, part.labelBytes);
      const isDeferred = index > 0 || place.others.length > 0;
      const others = isDeferred ? [elsewhere, ...parts.toSpliced(index, 1).map(({ fields }) => fields)] : [];
      for (const [name, nodes] of part.fields) {
        const path = place.path === '' ? name : `${place.path}.${name}`;
        const inner = { ...place, path, others: setsOf(others.flatMap((fields) => fields.get(name) ?? [])) };
        bytes += name.length + NAME_BYTES + this.#fieldBytes(type, nodes, inner);
      }
    }
    return bytes;
  }

  #fieldBytes(parent: GraphQLObjectType, nodes: readonly FieldNode[], place: Place): number {
    const [node] = nodes;
    const field = node && this.#info.schema.getField(parent, node.name.value);
    if (!field) return 0;
    if (field === TypeNameMetaFieldDef) return parent.name.length + BRACES;
    const isLater = isStreamed(node, this.#info.variableValues);
    if (isLater) this.#laterParts += place.times;
    const type = getNamedType(field.type);
    const declared = evaluateCost(field, node, this.#info, (cost, args): Declared => {
      const { items = DEFAULT_ITEMS, most = null, bytes = null } = cost;
      const lookup = cost.lookup?.(args, this.#prices, (name, of = type.name) =>
        argumentsOfNext(this.#info, type, nodes, of, name),
      );
      const [returns, count] = [cost.returns?.(args) ?? null, cost.count?.(args) ?? null];
      const name = this.#billable.has(type) ? `${field.name}${JSON.stringify(args)}` : field.name;
      return { lookup, returns, count, most, items, bytes, name };
    });
    if (declared === null) return NULL;
    if (declared.lookup)
      this.#charge(
        `${declared.lookup.field ?? field.name}${JSON.stringify(declared.lookup.list)}`,
        declared.lookup,
        place,
      );
    const sets = setsOf(nodes);
    const bytes = isListType(getNullableType(field.type))
      ? BRACES +
        (isLater ? partBytes(place, labelBytes(node)) : 0) +
        this.#itemBytes(type, node, sets, place, declared)
      : this.#valueBytes(type, sets, { ...place, items: declared.count }, declared);
    this.#compare(place, bytes, declared.count !== null);
    return bytes;
  }

  #itemBytes(
    type: GraphQLNamedType,
    node: FieldNode,
    sets: readonly SelectionSetNode[],
    place: Place,
    declared: Declared,
  ): number {
    const { returns, items } = declared;
    if (returns === null) {
      const count = declared.count ?? place.items ?? items;
      const inner = { ...place, times: place.times * count, items: null };
      const before = this.#laterParts + this.#dividedObjects;
      const bytes = count * (COMMA + this.#valueBytes(type, sets, inner, declared));
      const added = this.#laterParts + this.#dividedObjects - before;
      if (added > 0 && declared.count === null && place.items === null) {
        this.#partsPerItem ??= new WeakMap();
        this.#partsPerItem.set(node, added / inner.times);
      }
      return bytes;
    }
    const byType = Map.groupBy(returns, ({ typename }) => typename);
    return [...byType].reduce((sum, [typename, { length }]) => {
      const returned = this.#info.schema.getType(typename);
      if (!isObjectType(returned)) return sum;
      const inner = { ...place, times: place.times * length, items: null };
      return sum + length * (COMMA + this.#returnedBytes(returned, sets, inner, declared));
    }, 0);
  }

  /** An abstract type counts as the largest of its possible types, and costs what objects of all of them cost. */
  #valueBytes(
    type: GraphQLNamedType,
    sets: readonly SelectionSetNode[],
    place: Place,
    declared: Declared,
  ): number {
    if (isLeafType(type)) return declared.bytes ?? defaultBytes(type);
    if (isObjectType(type)) return this.#returnedBytes(type, sets, place, declared);
    if (!isAbstractType(type)) return 0;
    const possible = this.#info.schema.getPossibleTypes(type);
    return Math.max(0, ...possible.map((each) => this.#returnedBytes(each, sets, place, declared)));
  }

  /** Returns the bytes of one object that a field returns. `place` is the field's, with the number of its objects. */
  #returnedBytes(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    place: Place,
    declared: Declared,
  ): number {
    return this.objectBytes(type, sets, { ...place, billed: this.#billedObjects(type, place, declared) });
  }

  #billedObjects(
    type: GraphQLObjectType,
    { billed }: Place,
    { returns, count, most, name }: Declared,
  ): readonly BilledObject[] {
    if (!this.#billable.has(type)) return [];
    if (returns === null)
      return billed.map(({ key, times }) => ({ key: `${key}.${name}`, times: times * (most ?? count ?? 1) }));
    const keys = returns.flatMap(({ typename, id }) => (typename === type.name ? `${typename}:${id}` : []));
    return [...new Set(keys)].map((key) => ({ key, times: 1 }));
  }

  /** Lookups of one list of one object count once, at the larger cost. */
  #charge(list: string, lookup: BilledLookup, { path, times, billed }: Place): void {
    this.#lookups += times;
    for (const object of billed) {
      const line = `${object.key}.${list}`;
      const known = this.#lineItems.get(line);
      const computeUnits = lookup.computeUnits * object.times;
      const { details = NO_DETAILS, item } = lookup;
      const allDetails = [...(known?.allDetails ?? []), ...(details === NO_DETAILS ? [] : [details])];
      const wantedItems = new Set([...(known?.wantedItems ?? []), ...(item === undefined ? [] : [item])]);
      if (computeUnits > (known?.computeUnits ?? 0))
        this.#lineItems.set(line, { ...lookup, path, computeUnits, allDetails, wantedItems });
      else if (known) this.#lineItems.set(line, { ...known, allDetails, wantedItems });
    }
  }

  /** The heaviest is the heaviest field that declares how many items it returns. Where no field does, the heaviest root field. */
  #compare({ path, times }: Place, bytesEach: number, declaresCount: boolean): void {
    const bytes = bytesEach * times;
    const known = this.#heaviest;
    const isHeavier = declaresCount
      ? !known.declaresCount || bytes > known.bytes
      : !path.includes('.') && !known.declaresCount && bytes > known.bytes;
    if (isHeavier) this.#heaviest = { field: path, bytes, declaresCount };
  }
}

/**
 * A line item with the cost of all requests that the list takes: those that can't ask for all details at once are several, and
 * so are those for single items that a page lacks.
 */
const withRequests = (line: LineItem): LineItem => {
  const { size } = line.wantedItems;
  const pages = Math.max(1, requestsFor(line.allDetails, (details) => details).length);
  return { ...line, computeUnits: line.computeUnits * pages * (size > 1 ? 1 + size : 1) };
};

const totalOf = (items: readonly LineItem[]): Cost => {
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
