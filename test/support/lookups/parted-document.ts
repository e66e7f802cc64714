import fc, { type GeneratorValue } from 'fast-check';
import { type DirectiveNode, type DocumentNode, Kind, parse, type SelectionNode, visit } from 'graphql';
import { expect } from 'vitest';

/** The lists of lookups, and other lists. */
const LISTS: ReadonlySet<string> = new Set(['edges', 'nodes']);
const OTHER_LISTS: ReadonlySet<string> = new Set(['wallets', 'logs', 'attributes']);
/** The types of objects that have lookups, and of the lists themselves. */
const AROUND_LISTS = /^(Wallet|Token|.*Connection)$/;
/** Fragments count wherever they are spread. */
const MAX_DIRECTIVES = 8;

const directiveOf = (text: string): DirectiveNode => {
  const [operation] = parse(`{ a ${text} }`).definitions;
  const [field] = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections : [];
  return field?.directives?.[0] ?? expect.fail(text);
};

/**
 * Adds `@defer` to fragments, defers fields, and adds `@stream` to lists, to all of a name or to none. `where` says whether it does so anywhere, or
 * mostly where plans write lists: not in items.
 */
export const withParts = (
  gen: GeneratorValue,
  document: DocumentNode,
  where: 'anywhere' | 'around lists',
): DocumentNode => {
  let left = MAX_DIRECTIVES;
  let depthOfItems = 0;
  const chance = (percent: number): boolean => left > 0 && gen(fc.integer, { min: 0, max: 99 }) < percent;
  const isSpared = (): boolean => where === 'around lists' && depthOfItems > 0;
  const defer = (): DirectiveNode => {
    left -= 1;
    return directiveOf(`@defer(label: "d${left}")`);
  };
  const deferring = (node: SelectionNode): SelectionNode => {
    if (node.kind !== Kind.FIELD)
      return chance(40) ? { ...node, directives: [...(node.directives ?? []), defer()] } : node;
    if (!chance(10)) return node;
    const selectionSet = { kind: Kind.SELECTION_SET, selections: [node] } as const;
    return { kind: Kind.INLINE_FRAGMENT, selectionSet, directives: [defer()] };
  };
  const newStream = (): DirectiveNode | null => {
    if (!chance(50)) return null;
    left -= 1;
    return directiveOf(`@stream(initialCount: ${gen(fc.integer, { min: 0, max: 40 })})`);
  };
  // Uses that are merged must have the same.
  const streams = new Map([...LISTS].map((name) => [name, newStream()]));
  const streamOf = (name: string): DirectiveNode | null =>
    streams.get(name) ?? (OTHER_LISTS.has(name) ? newStream() : null);
  return visit(document, {
    FragmentDefinition: {
      enter: ({ typeCondition }) => {
        depthOfItems += AROUND_LISTS.test(typeCondition.name.value) ? 0 : 1;
      },
      leave: ({ typeCondition }) => {
        depthOfItems -= AROUND_LISTS.test(typeCondition.name.value) ? 0 : 1;
      },
    },
    Field: {
      enter(node) {
        const stream = isSpared() ? null : streamOf(node.name.value);
        if (LISTS.has(node.name.value)) depthOfItems += 1;
        return stream ? { ...node, directives: [...(node.directives ?? []), stream] } : undefined;
      },
      leave(node) {
        if (LISTS.has(node.name.value)) depthOfItems -= 1;
      },
    },
    SelectionSet: {
      leave: (node) => (isSpared() ? undefined : { ...node, selections: node.selections.map(deferring) }),
    },
  });
};
