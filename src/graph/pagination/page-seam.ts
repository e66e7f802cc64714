import type { PageItem } from '../../upstream/parse/page-parser.ts';

/** Where a page goes on behind the item that the walk has reached; `includesLast`: the pages since lie before that item. */
export type Seam = { readonly index: number; readonly includesLast: boolean };

/**
 * A page that has shifted meanwhile opens with items from before `last`, perhaps with `last` itself. Items of one time
 * don't say which they are: null when only the next page can tell.
 */
export const findSeam = <Value>(
  items: readonly PageItem<Value>[],
  last: PageItem<Value>,
  isLast: boolean,
): Seam | null => {
  const again = items.findIndex(({ identity }) => identity === last.identity);
  if (again >= 0) return { index: again + 1, includesLast: true };
  const { time } = last;
  const tells = isLast || time === null || items.some((item) => item.time === null || item.time < time);
  return tells ? { index: firstAtOrAfter(items, last), includesLast: false } : null;
};

/** The index of the first item that does not lie before `last` by its time; the length when all do. */
export const firstAtOrAfter = <Value>(items: readonly PageItem<Value>[], last: PageItem<Value>): number => {
  const index = items.findIndex(({ time }) => time === null || last.time === null || time <= last.time);
  return index < 0 ? items.length : index;
};
