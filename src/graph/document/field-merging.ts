import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** How much work it is to merge an operation's fields. A fragment counts wherever it is spread. */
export type FieldMerging = {
  /** The number of fields and fragment spreads. */
  readonly fields: number;
  /** The most fields with one name in one place of the answer. graphql compares each of them with each other. */
  readonly alike: number;
};

/** A fragment that spreads itself would be merged without end. Validation rejects it. */
const MAX_DEPTH = 32;

/**
 * Returns the counts of all operations of a document. Counting stops beyond `limit`: fragments that spread each other
 * twice, and so double at each level, take no more time than others.
 */
export const fieldMergingOf = (document: DocumentNode, limit: FieldMerging): FieldMerging => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  let fields = 0;
  let alike = 0;
  const openFragments = new Set<string>();
  const exceedsLimit = () => fields > limit.fields || alike > limit.alike;

  /** Counts selection sets that are merged into one. */
  const merge = (sets: readonly SelectionSetNode[], depth: number): void => {
    const byName = new Map<string, FieldNode[]>();
    const collect = (set: SelectionSetNode): void => {
      for (const selection of set.selections) {
        if (exceedsLimit()) return;
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
      if (!fragment || openFragments.has(name)) return;
      openFragments.add(name);
      // A spread counts as well: fragments without a field may double too.
      fields += 1;
      collect(fragment.selectionSet);
      openFragments.delete(name);
    };
    sets.forEach(collect);
    for (const named of byName.values()) {
      if (exceedsLimit() || depth === MAX_DEPTH) return;
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
