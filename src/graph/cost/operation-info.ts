import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  type InlineFragmentNode,
  isAbstractType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Scope } from '../../scopes.ts';
import { isDeferred, isIncluded, labelBytes, type VariableValues } from '../selection.ts';

/** An operation as a client sends it. */
export type Operation = {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
};

/** What an estimate knows of an operation before it runs. */
export type OperationInfo = {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The coerced values of the variables. */
  readonly variableValues: VariableValues;
  /** The scopes of the caller. */
  readonly scopes: ReadonlySet<Scope>;
};

/** Returns an operation's info, root type and selection; null for an operation that will not run at all. */
export const readOperation = (
  schema: GraphQLSchema,
  { document, operationName, variableValues }: Operation,
  scopes: ReadonlySet<Scope>,
) => {
  const operation = getOperationAST(document, operationName);
  const type = operation && schema.getRootType(operation.operation);
  if (!operation || !type) return null;
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 1,
  });
  if (variables.variableValues === undefined) return null;
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const info: OperationInfo = {
    schema,
    fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
    variableValues: variables.variableValues,
    scopes,
  };
  return { info, type, selectionSet: operation.selectionSet };
};

type Selecting = Pick<OperationInfo, 'schema' | 'fragments' | 'variableValues'>;

/** Fields by their names in the answer. */
type FieldsByName = ReadonlyMap<string, readonly FieldNode[]>;

/**
 * Returns the fields that the operation selects of an object of `type`, by their names in the answer. They are merged as
 * the executor merges them: each named fragment counts once, and what `@skip` or `@include` excludes does not count.
 */
export const collectFields = (
  info: Selecting,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): FieldsByName => {
  const collector = new FieldCollector(info, type, null);
  selectionSets.forEach(collector.collect);
  return collector.fields;
};

/** Returns the arguments of each use of a field of `type` that is selected directly below these uses of its parent. */
export const argumentsBelow = (
  info: Selecting,
  type: GraphQLNamedType,
  nodes: readonly FieldNode[],
  name: string,
): readonly Readonly<Record<string, unknown>>[] => {
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  if (!isObjectType(type) || field === undefined) return [];
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  return [...collectFields(info, type, sets).values()].flatMap(([node]) =>
    node?.name.value === name ? [getArgumentValues(field, node, info.variableValues)] : [],
  );
};

/** The fields of an object that come together, and the bytes of the label with which they come. */
type PartOfObject = { readonly fields: FieldsByName; readonly labelBytes: number };

/**
 * As `collectFields`, with the fields of each deferred fragment by themselves: they are made and sent again, also those
 * that another part has. The first ones are those of no deferred fragment.
 */
export const collectParts = (
  info: Selecting,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): readonly PartOfObject[] => {
  const deferred: FieldCollector[] = [];
  const collector = new FieldCollector(info, type, deferred);
  selectionSets.forEach(collector.collect);
  return [collector, ...deferred];
};

/** Collects the fields of one part of an object. */
class FieldCollector implements PartOfObject {
  readonly fields = new Map<string, FieldNode[]>();
  labelBytes = 0;
  readonly #info: Selecting;
  readonly #type: GraphQLObjectType;
  /** The collectors of deferred fragments; null where these count as others do. */
  readonly #deferred: FieldCollector[] | null;
  readonly #visited = new Set<string>();

  constructor(info: Selecting, type: GraphQLObjectType, deferred: FieldCollector[] | null) {
    this.#info = info;
    this.#type = type;
    this.#deferred = deferred;
  }

  readonly collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection, this.#info.variableValues)) continue;
      if (selection.kind === Kind.FIELD) this.#add(selection);
      else this.#partOf(selection).#collectFragment(selection);
    }
  };

  #add(node: FieldNode): void {
    const name = node.alias?.value ?? node.name.value;
    const known = this.fields.get(name);
    if (known) known.push(node);
    else this.fields.set(name, [node]);
  }

  /** Returns the collector of the part that a fragment comes in. */
  #partOf(fragment: FragmentSpreadNode | InlineFragmentNode): FieldCollector {
    if (this.#deferred === null || !isDeferred(fragment, this.#info.variableValues)) return this;
    const part = new FieldCollector(this.#info, this.#type, this.#deferred);
    part.labelBytes = labelBytes(fragment);
    this.#deferred.push(part);
    return part;
  }

  #collectFragment(fragment: FragmentSpreadNode | InlineFragmentNode): void {
    const added = this.#selectionOf(fragment);
    if (added) this.collect(added);
  }

  #selectionOf(fragment: FragmentSpreadNode | InlineFragmentNode): SelectionSetNode | undefined {
    if (fragment.kind === Kind.INLINE_FRAGMENT)
      return this.#applies(fragment.typeCondition?.name.value) ? fragment.selectionSet : undefined;
    const { value: name } = fragment.name;
    const definition = this.#visited.has(name) ? undefined : this.#info.fragments.get(name);
    this.#visited.add(name);
    return definition && this.#applies(definition.typeCondition.name.value)
      ? definition.selectionSet
      : undefined;
  }

  #applies(condition: string | undefined): boolean {
    if (condition === undefined || condition === this.#type.name) return true;
    const conditional = this.#info.schema.getType(condition);
    return isAbstractType(conditional) && this.#info.schema.isSubType(conditional, this.#type);
  }
}
