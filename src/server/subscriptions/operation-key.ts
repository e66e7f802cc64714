import { type FieldNode, Kind, type ValidatedSubscriptionArgs, visit } from 'graphql';

/**
 * What two subscriptions must have in common to be executed as one: document, operation, and variables, but for the
 * one that only says where to begin.
 */
export const operationKey = ({ document, operation, variableValues }: ValidatedSubscriptionArgs): string => {
  const beginning = resumeVariable(document, operation.selectionSet.selections);
  const variables = Object.entries(variableValues.coerced).filter(([name]) => name !== beginning);
  return JSON.stringify([
    document.loc?.source.body ?? document,
    operation.name?.value ?? null,
    variables.toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ]);
};

type Document = ValidatedSubscriptionArgs['document'];
type Selections = ValidatedSubscriptionArgs['operation']['selectionSet']['selections'];

/** The variable that is the root field's `after` and nothing else. */
const resumeVariable = (document: Document, selections: Selections): string | null => {
  const field = selections.find((selection): selection is FieldNode => selection.kind === Kind.FIELD);
  const after = field?.arguments?.find(({ name }) => name.value === 'after')?.value;
  if (after?.kind !== Kind.VARIABLE) return null;
  let uses = 0;
  visit(document, {
    Variable: ({ name }) => {
      if (name.value === after.name.value) uses += 1;
    },
  });
  const declared = 1;
  return uses === declared + 1 ? after.name.value : null;
};
