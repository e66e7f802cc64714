import type { Item } from '../api/use-connection.ts';

/** The items without repeats: what was added here comes first, and the page that holds it as well does not repeat it. */
export const eachOnce = <Node>(
  items: readonly Item<Node>[],
  keyOf: (node: Node) => string,
): readonly Item<Node>[] => {
  const byKey = Map.groupBy(items, ({ node }) => keyOf(node));
  return [...byKey.values()].flatMap(([first]) => first ?? []);
};
