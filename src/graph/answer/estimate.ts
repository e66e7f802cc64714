import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
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
import { scopeOfField } from '../authorization.ts';
import { collectFields, type DocumentInfo } from '../cost/collect-fields.ts';
import { type Operation, readOperation } from '../cost/estimate.ts';
import { costOf, type FieldCost } from '../cost/field-cost.ts';
import type { GlobalId } from '../global-id.ts';
import { DEFAULT_ITEMS, defaultBytes } from './default-sizes.ts';

/** What an answer is taken to weigh before it is made. */
export type AnswerEstimate = {
  readonly bytes: number;
  readonly heaviest: Heaviest;
};

/** A field, by its path in the answer, and its weight in all objects together. */
type Heaviest = { readonly field: string; readonly bytes: number };

/** Estimates the answer to an operation under these scopes: 0 bytes for an operation that can not run at all. */
export type EstimateAnswer = (operation: Operation, scopes: ReadonlySet<Scope>) => AnswerEstimate;

/**
 * Estimates an answer from the operation's document and variables. It takes every paged list at its longest, and inner
 * lists and texts at their usual size.
 */
export const createAnswerEstimate =
  (schema: GraphQLSchema): EstimateAnswer =>
  (operation, scopes) => {
    const root = readOperation(schema, operation);
    if (root === null) return { bytes: 0, heaviest: { field: '', bytes: 0 } };
    const { reading, type, selectionSet } = root;
    const weighing = new Weighing(reading, scopes);
    const bytes = weighing.ofObject(type, [selectionSet], { path: '', times: 1, items: null });
    return { bytes, heaviest: weighing.heaviest };
  };

/** Where an object stands in the answer. */
type Place = {
  readonly path: string;
  /** How many such objects there are. */
  readonly times: number;
  /** How many items its lists have, as a connection's field says; null for another object. */
  readonly items: number | null;
};

/** Of `"":` and a comma. */
const AROUND_NAME = 4;
const BRACES = 2;
const COMMA = 1;
const NULL = 4;

class Weighing {
  #heaviest: Heaviest & { readonly isCounted: boolean } = { field: '', bytes: 0, isCounted: false };
  readonly #reading: DocumentInfo;
  readonly #scopes: ReadonlySet<Scope>;

  constructor(reading: DocumentInfo, scopes: ReadonlySet<Scope>) {
    this.#reading = reading;
    this.#scopes = scopes;
  }

  /** The heaviest field that says how many items it gives. Where no field does, the heaviest root field. */
  get heaviest(): Heaviest {
    const { field, bytes } = this.#heaviest;
    return { field, bytes };
  }

  /** What one such object weighs. */
  ofObject(type: GraphQLObjectType, sets: readonly SelectionSetNode[], place: Place): number {
    let bytes = BRACES;
    for (const [name, nodes] of collectFields(this.#reading, type, sets)) {
      const path = place.path === '' ? name : `${place.path}.${name}`;
      bytes += name.length + AROUND_NAME + this.#ofField(type, nodes, { ...place, path });
    }
    return bytes;
  }

  #ofField(parent: GraphQLObjectType, nodes: readonly FieldNode[], place: Place): number {
    const [node] = nodes;
    const field = node && this.#reading.schema.getField(parent, node.name.value);
    if (!field) return 0;
    if (field === TypeNameMetaFieldDef) return parent.name.length + BRACES;
    const declared = this.#ask(field, node);
    if (declared === null) return NULL;
    const type = getNamedType(field.type);
    const sets = nodes.flatMap((each) => each.selectionSet ?? []);
    const bytes = isListType(getNullableType(field.type))
      ? BRACES + this.#ofItems(type, sets, place, declared)
      : this.#ofValue(type, sets, { ...place, items: declared.count }, declared);
    this.#note(place, bytes, declared.count !== null);
    return bytes;
  }

  #ofItems(
    type: GraphQLNamedType,
    sets: readonly SelectionSetNode[],
    place: Place,
    declared: DeclaredSize,
  ): number {
    const { returns, items } = declared;
    if (returns === null) {
      const count = declared.count ?? place.items ?? items;
      const inner = { ...place, times: place.times * count, items: null };
      return count * (COMMA + this.#ofValue(type, sets, inner, declared));
    }
    const byType = Map.groupBy(returns, ({ typename }) => typename);
    return [...byType].reduce((sum, [typename, { length }]) => {
      const given = this.#reading.schema.getType(typename);
      if (!isObjectType(given)) return sum;
      const inner = { ...place, times: place.times * length, items: null };
      return sum + length * (COMMA + this.ofObject(given, sets, inner));
    }, 0);
  }

  /** An abstract type stands for the heaviest of its possible types. */
  #ofValue(
    type: GraphQLNamedType,
    sets: readonly SelectionSetNode[],
    place: Place,
    declared: DeclaredSize,
  ): number {
    if (isLeafType(type)) return declared.bytes ?? defaultBytes(type);
    if (isObjectType(type)) return this.ofObject(type, sets, place);
    if (!isAbstractType(type)) return 0;
    const possible = this.#reading.schema.getPossibleTypes(type);
    return Math.max(0, ...possible.map((each) => this.ofObject(each, sets, place)));
  }

  /** What a field says of this use of it; null when it will be refused. */
  #ask(field: GraphQLField<unknown, unknown>, node: FieldNode): DeclaredSize | null {
    const scope = scopeOfField(field);
    if (scope !== undefined && !this.#scopes.has(scope)) return null;
    const cost: FieldCost<Record<string, unknown>> = costOf(field) ?? {};
    try {
      const args = getArgumentValues(field, node, this.#reading.variableValues);
      const { items = DEFAULT_ITEMS, bytes = null } = cost;
      return { returns: cost.returns?.(args) ?? null, count: cost.count?.(args) ?? null, items, bytes };
    } catch (error) {
      if (error instanceof GraphQLError) return null;
      throw error;
    }
  }

  #note({ path, times }: Place, bytesEach: number, isCounted: boolean): void {
    const bytes = bytesEach * times;
    const known = this.#heaviest;
    const isRoot = !path.includes('.');
    if (
      isCounted ? !known.isCounted || bytes > known.bytes : isRoot && !known.isCounted && bytes > known.bytes
    )
      this.#heaviest = { field: path, bytes, isCounted };
  }
}

type DeclaredSize = {
  readonly returns: readonly GlobalId[] | null;
  readonly count: number | null;
  readonly items: number;
  readonly bytes: number | null;
};
