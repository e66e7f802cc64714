import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { isIncluded, type VariableValues } from '../selection.ts';

/** What a document is read with, before it runs. */
export type DocumentInfo = {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variableValues: VariableValues;
};

/**
 * The fields that an object of `type` is asked for, by the name that they have in the answer: as the executor merges
 * them, each fragment once, without what `@skip` and `@include` leave out.
 */
export const collectFields = (
  reading: DocumentInfo,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly FieldNode[]> => {
  const { schema, fragments, variableValues } = reading;
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<string>();

  const typeApplies = (condition: string | undefined): boolean => {
    if (condition === undefined || condition === type.name) return true;
    const conditional = schema.getType(condition);
    return isAbstractType(conditional) && schema.isSubType(conditional, type);
  };
  /** What a fragment adds; a named one adds it once. */
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
