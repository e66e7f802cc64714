import { type FieldNode, Kind, type ValidatedSubscriptionArgs, visit } from 'graphql';

/**
 * Returns the deduplication key of a subscription: two subscriptions are executed as one if their documents, operations
 * and variables are equal. A variable that says only where to resume is left out.
 */
export const operationKey = ({ document, operation, variableValues }: ValidatedSubscriptionArgs): string => {
  const resume = resumeVariable(document, operation.selectionSet.selections);
  const variables = Object.entries(variableValues.coerced).filter(([name]) => name !== resume);
  return JSON.stringify([
    document.loc?.source.body ?? document,
    operation.name?.value ?? null,
    variables.toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ]);
};

type Document = ValidatedSubscriptionArgs['document'];
type Selections = ValidatedSubscriptionArgs['operation']['selectionSet']['selections'];

/** Returns the name of the variable that is the root field's `after` and is used nowhere else, or null. */
const resumeVariable = (document: Document, selections: Selections): string | null => {
  const field = selections.find((selection): selection is FieldNode => selection.kind === Kind.FIELD);
  const after = field?.arguments?.find(({ name }) => name.value === 'after')?.value;
  if (after?.kind !== Kind.VARIABLE) return null;
  let occurrences = 0;
  visit(document, {
    Variable: ({ name }) => {
      if (name.value === after.name.value) occurrences += 1;
    },
  });
  const inDeclaration = 1;
  return occurrences === inDeclaration + 1 ? after.name.value : null;
};
