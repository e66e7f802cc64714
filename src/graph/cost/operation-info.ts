import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLDeferDirective,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  GraphQLStreamDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  type InlineFragmentNode,
  isAbstractType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Scope } from '../../scopes.ts';

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

/** The part of an operation that decides which fields it selects. */
export type SelectionInfo = Pick<OperationInfo, 'schema' | 'fragments' | 'variableValues'>;

/** Fields by their names in the answer. */
type FieldsByName = ReadonlyMap<string, readonly FieldNode[]>;

/**
 * Returns the fields that the operation selects of an object of `type`, by their names in the answer. They are merged as
 * the executor merges them: each named fragment counts once, and what `@skip` or `@include` excludes does not count.
 */
export const collectFields = (
  info: SelectionInfo,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): FieldsByName => {
  const collector = new FieldCollector(info, type, null);
  selectionSets.forEach(collector.collect);
  return collector.fields;
};

/** Returns the arguments of each use of a field of `type` that is selected directly below these uses of its parent. */
export const argumentsBelow = (
  info: SelectionInfo,
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

/**
 * Returns the arguments of each use of a field of the type `of` that is selected below these uses of its parent, without
 * another object of that type between.
 */
export const argumentsOfNext = (
  info: SelectionInfo,
  type: GraphQLNamedType,
  nodes: readonly FieldNode[],
  of: string,
  name: string,
): readonly Readonly<Record<string, unknown>>[] => {
  if (type.name === of) return argumentsBelow(info, type, nodes, name);
  if (!isObjectType(type)) return [];
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  return [...collectFields(info, type, sets).values()].flatMap((uses) => {
    const field = type.getFields()[uses[0]?.name.value ?? ''];
    return field === undefined ? [] : argumentsOfNext(info, getNamedType(field.type), uses, of, name);
  });
};

/** The selection of the field that is being resolved, as functions of a document take it. */
export const selectionOf = ({ schema, variableValues, fragments }: GraphQLResolveInfo): SelectionInfo => ({
  schema,
  variableValues,
  fragments: new Map(
    Object.entries(fragments).flatMap(([name, fragment]) => (fragment ? [[name, fragment] as const] : [])),
  ),
});

/** The fields of an object that come together, and the bytes of the label with which they come. */
type PartOfObject = { readonly fields: FieldsByName; readonly labelBytes: number };

/**
 * As `collectFields`, with the fields of each deferred fragment by themselves: they are made and sent again, also those
 * that another part has. The first ones are those of no deferred fragment.
 */
export const collectParts = (
  info: SelectionInfo,
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
  readonly #info: SelectionInfo;
  readonly #type: GraphQLObjectType;
  /** The collectors of deferred fragments; null where these count as others do. */
  readonly #deferred: FieldCollector[] | null;
  readonly #visited = new Set<string>();

  constructor(info: SelectionInfo, type: GraphQLObjectType, deferred: FieldCollector[] | null) {
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

/**
 * Returns whether the operation selects one of these fields anywhere below the field that is being resolved. It sees
 * fragments and aliases, and ignores what `@skip` or `@include` excludes.
 */
export const selectsBelow = (info: GraphQLResolveInfo, names: ReadonlySet<string>): boolean => {
  // Each fragment is visited once: nested fragments would double the work at each level.
  const visited = new Set<string>();
  const inFragment = (name: string): boolean => {
    if (visited.has(name)) return false;
    visited.add(name);
    return inSet(info.fragments[name]?.selectionSet);
  };
  const inSet = (set: SelectionSetNode | undefined): boolean => set?.selections.some(inSelection) ?? false;
  const inSelection = (selection: SelectionNode): boolean => {
    if (!isIncluded(selection, info.variableValues)) return false;
    if (selection.kind === Kind.FRAGMENT_SPREAD) return inFragment(selection.name.value);
    if (selection.kind === Kind.FIELD && names.has(selection.name.value)) return true;
    return inSet(selection.selectionSet);
  };
  return info.fieldNodes.some((node: FieldNode) => inSet(node.selectionSet));
};

/** The coerced values of an operation's variables. */
export type VariableValues = GraphQLResolveInfo['variableValues'];

/** Returns whether `@skip` and `@include` keep a selection. */
export const isIncluded = (node: SelectionNode, variableValues: VariableValues): boolean =>
  !node.directives?.length ||
  (getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false);

/** Returns whether `@defer` makes a fragment come later. */
const isDeferred = (node: SelectionNode, variableValues: VariableValues): boolean =>
  hasDirectives(node) && getDirectiveValues(GraphQLDeferDirective, node, variableValues)?.if === true;

/** Returns whether `@stream` makes items of a list come later. */
export const isStreamed = (node: FieldNode, variableValues: VariableValues): boolean =>
  hasDirectives(node) && getDirectiveValues(GraphQLStreamDirective, node, variableValues)?.if === true;

/** Returns the `initialCount` of the list that is being resolved; null if it is not streamed. */
export const initialCountOf = ({ fieldNodes: [node], variableValues }: GraphQLResolveInfo): number | null => {
  const stream = node && getDirectiveValues(GraphQLStreamDirective, node, variableValues);
  return stream?.if === true ? Number(stream.initialCount) : null;
};

/** Returns the bytes of the label of a deferred fragment or a streamed list. */
export const labelBytes = ({ directives = [] }: SelectionNode): number => {
  let bytes = 0;
  for (const { name, arguments: args = [] } of directives)
    if (name.value === GraphQLDeferDirective.name || name.value === GraphQLStreamDirective.name)
      for (const { value } of args) if (value.kind === Kind.STRING) bytes += Buffer.byteLength(value.value);
  return bytes;
};

const hasDirectives = ({ directives = [] }: SelectionNode): boolean => directives.length > 0;
