import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** How much of an operation has to be merged. A fragment counts wherever it is spread. */
export type FieldMerging = {
  /** Of all fields and fragment spreads. */
  readonly fields: number;
  /** The most fields that share one name in one place of the answer: each is compared with each other. */
  readonly alike: number;
};

/** Fragments that spread themselves would be merged without end; they are refused for that. */
const MAX_DEPTH = 32;

/**
 * The counts of the document's operations: all their fields, and the most that are alike. Counting stops beyond `most`,
 * so fragments that double one another cost no more than others.
 */
export const fieldMergingOf = (document: DocumentNode, most: FieldMerging): FieldMerging => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  let fields = 0;
  let alike = 0;
  const within = new Set<string>();
  const isTooMuch = () => fields > most.fields || alike > most.alike;

  /** Of sets that are merged into one. */
  const merge = (sets: readonly SelectionSetNode[], depth: number): void => {
    const byName = new Map<string, FieldNode[]>();
    const collect = (set: SelectionSetNode): void => {
      for (const selection of set.selections) {
        if (isTooMuch()) return;
        if (selection.kind === Kind.FIELD) add(selection);
        else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
        else spread(selection.name.value);
      }
    };
    const add = (field: FieldNode): void => {
      const name = (field.alias ?? field.name).value;
      const others = byName.get(name);
      if (others) others.push(field);
      else byName.set(name, [field]);
      fields += 1;
      alike = Math.max(alike, others?.length ?? 1);
    };
    const spread = (name: string): void => {
      const fragment = fragments.get(name);
      if (!fragment || within.has(name)) return;
      within.add(name);
      // Else fragments without a field would double unseen.
      fields += 1;
      collect(fragment.selectionSet);
      within.delete(name);
    };
    sets.forEach(collect);
    for (const named of byName.values()) {
      if (isTooMuch() || depth === MAX_DEPTH) return;
      merge(
        named.flatMap(({ selectionSet }) => selectionSet ?? []),
        depth + 1,
      );
    }
  };

  for (const node of document.definitions)
    if (node.kind === Kind.OPERATION_DEFINITION) merge([node.selectionSet], 1);
  return { fields, alike };
};
