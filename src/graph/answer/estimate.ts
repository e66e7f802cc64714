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
import { DEFAULT_ITEMS, defaultBytes, evaluateCost } from '../cost/field-cost.ts';
import {
  collectFields,
  collectParts,
  type Operation,
  type OperationInfo,
  readOperation,
} from '../cost/operation-info.ts';
import { rememberEstimates } from '../cost/remembered-estimates.ts';
import type { GlobalId } from '../global-id.ts';
import { isStreamed, labelBytes } from '../selection.ts';

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
  /** What each item of a list adds to both numbers, where no argument limits its length. Null where no item adds any. */
  readonly partsPerItem: PartsPerItem | null;
};

type PartsPerItem = Pick<WeakMap<FieldNode, number>, 'get'>;

/** A field, by its path in the answer, and its bytes in all objects together. */
type Heaviest = { readonly field: string; readonly bytes: number };

/** Estimates the answer to an operation of a caller with these scopes. An operation that will not run has 0 bytes. */
export type EstimateAnswer = (operation: Operation, scopes: ReadonlySet<Scope>) => AnswerEstimate;

/**
 * Estimates an answer from the operation's document and variables. Each paged list counts at its maximum length; inner
 * lists and texts count at their usual size.
 */
export const createAnswerEstimate = (schema: GraphQLSchema): EstimateAnswer =>
  rememberEstimates((operation, scopes) => ({
    value: estimateOf(schema, operation, scopes),
    isCurrent: () => true,
  }));

const estimateOf = (
  schema: GraphQLSchema,
  operation: Operation,
  scopes: ReadonlySet<Scope>,
): AnswerEstimate => {
  const root = readOperation(schema, operation, scopes);
  if (root === null) return NOTHING;
  const estimator = new AnswerEstimator(root.info);
  const place = { path: '', times: 1, items: null, others: [] };
  const bytes = estimator.objectBytes(root.type, [root.selectionSet], place);
  const { heaviest, lookups, laterParts, dividedObjects, partsPerItem } = estimator;
  return { bytes, heaviest, lookups, laterParts, dividedObjects, partsPerItem };
};

const NOTHING: AnswerEstimate = {
  bytes: 0,
  heaviest: { field: '', bytes: 0 },
  lookups: 0,
  laterParts: 0,
  dividedObjects: 0,
  partsPerItem: null,
};

/** The place of an object in the answer. */
type Place = {
  readonly path: string;
  /** How many such objects the answer has. */
  readonly times: number;
  /** The length of the object's lists, as its connection's field declares it; null for another object. */
  readonly items: number | null;
  /** What other parts select of the object, where a deferred fragment selects it. */
  readonly others: readonly SelectionSetNode[];
};

/** What a field declares of one use of it. */
type DeclaredSize = {
  readonly returns: readonly GlobalId[] | null;
  readonly count: number | null;
  readonly items: number;
  readonly bytes: number | null;
};

/** The size of `"":` and of a comma. */
const NAME_BYTES = 4;
const BRACES = 2;
const COMMA = 1;
const NULL = 4;
/** The size of what is around the data of a part, beside its path and label. */
const PART_BYTES = 60;

const setsOf = (nodes: readonly FieldNode[]): readonly SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

/** Returns the bytes that a part of the answer has beside its data. */
const partBytes = ({ path }: Place, label: number): number => PART_BYTES + Buffer.byteLength(path) + label;

class AnswerEstimator {
  #heaviest: Heaviest & { readonly declaresCount: boolean } = { field: '', bytes: 0, declaresCount: false };
  readonly #info: OperationInfo;
  lookups = 0;
  laterParts = 0;
  dividedObjects = 0;
  partsPerItem: WeakMap<FieldNode, number> | null = null;

  constructor(info: OperationInfo) {
    this.#info = info;
  }

  /** The heaviest field that declares how many items it returns. Where no field does, the heaviest root field. */
  get heaviest(): Heaviest {
    const { field, bytes } = this.#heaviest;
    return { field, bytes };
  }

  /** Returns the bytes of one such object. */
  objectBytes(type: GraphQLObjectType, sets: readonly SelectionSetNode[], place: Place): number {
    const parts = collectParts(this.#info, type, sets);
    const elsewhere = collectFields(this.#info, type, place.others);
    this.laterParts += (parts.length - 1) * place.times;
    if (place.others.length > 0) this.dividedObjects += place.times;
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
    if (isLater) this.laterParts += place.times;
    const declared = evaluateCost(field, node, this.#info, (cost, args): DeclaredSize => {
      const { items = DEFAULT_ITEMS, bytes = null } = cost;
      if (cost.lookup) this.lookups += place.times;
      return { returns: cost.returns?.(args) ?? null, count: cost.count?.(args) ?? null, items, bytes };
    });
    if (declared === null) return NULL;
    const type = getNamedType(field.type);
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
    declared: DeclaredSize,
  ): number {
    const { returns, items } = declared;
    if (returns === null) {
      const count = declared.count ?? place.items ?? items;
      const inner = { ...place, times: place.times * count, items: null };
      const before = this.laterParts + this.dividedObjects;
      const bytes = count * (COMMA + this.#valueBytes(type, sets, inner, declared));
      const added = this.laterParts + this.dividedObjects - before;
      if (added > 0 && declared.count === null && place.items === null) {
        this.partsPerItem ??= new WeakMap();
        this.partsPerItem.set(node, added / inner.times);
      }
      return bytes;
    }
    const byType = Map.groupBy(returns, ({ typename }) => typename);
    return [...byType].reduce((sum, [typename, { length }]) => {
      const returned = this.#info.schema.getType(typename);
      if (!isObjectType(returned)) return sum;
      const inner = { ...place, times: place.times * length, items: null };
      return sum + length * (COMMA + this.objectBytes(returned, sets, inner));
    }, 0);
  }

  /** An abstract type counts as the largest of its possible types. */
  #valueBytes(
    type: GraphQLNamedType,
    sets: readonly SelectionSetNode[],
    place: Place,
    declared: DeclaredSize,
  ): number {
    if (isLeafType(type)) return declared.bytes ?? defaultBytes(type);
    if (isObjectType(type)) return this.objectBytes(type, sets, place);
    if (!isAbstractType(type)) return 0;
    const possible = this.#info.schema.getPossibleTypes(type);
    return Math.max(0, ...possible.map((each) => this.objectBytes(each, sets, place)));
  }

  #compare({ path, times }: Place, bytesEach: number, declaresCount: boolean): void {
    const bytes = bytesEach * times;
    const known = this.#heaviest;
    const isHeavier = declaresCount
      ? !known.declaresCount || bytes > known.bytes
      : !path.includes('.') && !known.declaresCount && bytes > known.bytes;
    if (isHeavier) this.#heaviest = { field: path, bytes, declaresCount };
  }
}
