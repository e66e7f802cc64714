import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Scope } from '../../scopes.ts';
import { isIncluded, type VariableValues } from '../selection.ts';

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

/**
 * Returns the fields that the operation selects of an object of `type`, by their names in the answer. They are merged as
 * the executor merges them: each named fragment counts once, and what `@skip` or `@include` excludes does not count.
 */
export const collectFields = (
  { schema, fragments, variableValues }: Pick<OperationInfo, 'schema' | 'fragments' | 'variableValues'>,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly FieldNode[]> => {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<string>();

  const typeApplies = (condition: string | undefined): boolean => {
    if (condition === undefined || condition === type.name) return true;
    const conditional = schema.getType(condition);
    return isAbstractType(conditional) && schema.isSubType(conditional, type);
  };
  const fragmentSelection = (
    fragment: FragmentSpreadNode | InlineFragmentNode,
  ): SelectionSetNode | undefined => {
    if (fragment.kind === Kind.INLINE_FRAGMENT)
      return typeApplies(fragment.typeCondition?.name.value) ? fragment.selectionSet : undefined;
    const { value: name } = fragment.name;
    const definition = visited.has(name) ? undefined : fragments.get(name);
    visited.add(name);
    return definition && typeApplies(definition.typeCondition.name.value)
      ? definition.selectionSet
      : undefined;
  };
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections.filter((each) => isIncluded(each, variableValues))) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        fields.set(name, fields.get(name) ?? []);
        fields.get(name)?.push(selection);
      } else {
        const added = fragmentSelection(selection);
        if (added) collect(added);
      }
    }
  };
  selectionSets.forEach(collect);
  return fields;
};
