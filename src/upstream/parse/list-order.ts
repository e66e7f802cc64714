/**
 * How upstream orders a list. This decides how a walk finds its place again when the pages have changed.
 *
 * - `newestFirst`: by the time in the property, descending. Items keep their time unless a reorg changes it, so new ones arrive
 *   at the head alone. Several may have the same time.
 * - `descendingBy`: by the number in the property, which may change: items move both ways, also between pages.
 * - `unordered`: upstream promises no order. Items may move both ways.
 */
export type ListOrder<Property = string> =
  | { readonly kind: 'newestFirst'; readonly by: Property }
  | { readonly kind: 'descendingBy'; readonly by: Property }
  | { readonly kind: 'unordered' };

export const newestFirst = <const Property extends string>(by: Property) =>
  ({ kind: 'newestFirst', by }) as const satisfies ListOrder;

export const descendingBy = <const Property extends string>(by: Property) =>
  ({ kind: 'descendingBy', by }) as const satisfies ListOrder;

export const UNORDERED = { kind: 'unordered' } as const satisfies ListOrder;

/** Returns the number that a list descends by, of one item: milliseconds since 1970 where it is a time. Null without one. */
export const rankOf = <Value>(order: ListOrder<keyof Value>, value: Value): number | null => {
  if (order.kind === 'unordered') return null;
  const by = value[order.by];
  if (by === null || by === undefined) return null;
  const rank = order.kind === 'newestFirst' ? Date.parse(String(by)) : Number(by);
  return Number.isNaN(rank) ? null : rank;
};
