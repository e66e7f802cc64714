import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** The size of an operation by its text alone. A fragment counts wherever it is spread. */
export type OperationSize = {
  /** The nesting of fields; a field without subfields has 1. */
  readonly depth: number;
  /** The fields of the selection set itself, without those of the sets below it. */
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
};

const NOTHING: OperationSize = { depth: 0, fields: 0, aliases: 0, directives: 0 };

/**
 * Returns the size of a document: the maximum of its operations, for each measure by itself. Every fragment is visited
 * once, so the time is proportional to the text, however often fragments spread each other. A fragment that spreads
 * itself adds nothing there: validation rejects it.
 */
export const sizeOf = (document: DocumentNode): OperationSize => {
  const fragments = new Map(document.definitions.filter(isFragment).map((node) => [node.name.value, node]));
  const sizes = new Map<string, OperationSize>();

  const ofSet = (set: SelectionSetNode | undefined): OperationSize =>
    set?.selections.map(ofSelection).reduce(together, NOTHING) ?? NOTHING;

  const ofFragment = (name: string): OperationSize => {
    const size = sizes.get(name);
    if (size) return size;
    sizes.set(name, NOTHING);
    const fragment = fragments.get(name);
    const found = fragment ? withDirectives(ofSet(fragment.selectionSet), fragment) : NOTHING;
    sizes.set(name, found);
    return found;
  };
  const ofSelection = (node: SelectionNode): OperationSize => {
    if (node.kind === Kind.FIELD) return withDirectives(ofField(node, ofSet(node.selectionSet)), node);
    const added = node.kind === Kind.FRAGMENT_SPREAD ? ofFragment(node.name.value) : ofSet(node.selectionSet);
    return withDirectives(added, node);
  };
  const ofOperation = (node: OperationDefinitionNode): OperationSize =>
    [node, ...(node.variableDefinitions ?? [])].reduce(withDirectives, ofSet(node.selectionSet));

  return document.definitions.filter(isOperation).map(ofOperation).reduce(largest, NOTHING);
};

const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode =>
  node.kind === Kind.FRAGMENT_DEFINITION;

const isOperation = (node: DefinitionNode): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION;

const ofField = ({ alias }: FieldNode, below: OperationSize): OperationSize => ({
  ...below,
  depth: below.depth + 1,
  fields: 1,
  aliases: below.aliases + (alias ? 1 : 0),
});

type Directed = Pick<FieldNode | FragmentSpreadNode | InlineFragmentNode, 'directives'>;

const withDirectives = (size: OperationSize, { directives = [] }: Directed): OperationSize => ({
  ...size,
  directives: size.directives + directives.length,
});

const together = (one: OperationSize, other: OperationSize): OperationSize => ({
  depth: Math.max(one.depth, other.depth),
  fields: one.fields + other.fields,
  aliases: one.aliases + other.aliases,
  directives: one.directives + other.directives,
});

const largest = (one: OperationSize, other: OperationSize): OperationSize => ({
  depth: Math.max(one.depth, other.depth),
  fields: Math.max(one.fields, other.fields),
  aliases: Math.max(one.aliases, other.aliases),
  directives: Math.max(one.directives, other.directives),
});
