import {
  type FieldNode,
  GraphQLDeferDirective,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  GraphQLStreamDirective,
  getDirectiveValues,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

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
export const isDeferred = (node: SelectionNode, variableValues: VariableValues): boolean =>
  hasDirectives(node) && getDirectiveValues(GraphQLDeferDirective, node, variableValues)?.if === true;

/** Returns whether `@stream` makes items of a list come later. */
export const isStreamed = (node: FieldNode, variableValues: VariableValues): boolean =>
  hasDirectives(node) && getDirectiveValues(GraphQLStreamDirective, node, variableValues)?.if === true;

/** Returns the bytes of the label of a deferred fragment or a streamed list. */
export const labelBytes = ({ directives = [] }: SelectionNode): number => {
  let bytes = 0;
  for (const { name, arguments: args = [] } of directives)
    if (name.value === GraphQLDeferDirective.name || name.value === GraphQLStreamDirective.name)
      for (const { value } of args) if (value.kind === Kind.STRING) bytes += Buffer.byteLength(value.value);
  return bytes;
};

const hasDirectives = ({ directives = [] }: SelectionNode): boolean => directives.length > 0;
