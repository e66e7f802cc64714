/** Where a list ends after a page was put into it: with the page, with what it had before, or where it was cut. */
type End = 'page' | 'list' | 'cut';

/** Rows that a list keeps when newer ones come on top. Older ones are loaded again when the reader wants them. */
const MAX_KEPT = 1000;

/**
 * Puts a page into a list, behind its first `at` items. What the list has there is replaced as far as the page reaches, and
 * what comes after that stays: newer items appear on top, and the reader keeps all pages that are loaded. A page that has no
 * item in common with the rest of the list takes its place, since items between both may be missing.
 *
 * `keyOf` returns what identifies an item, or undefined for an item that nothing identifies. What stays is cut behind
 * `most` items.
 */
export const joinPage = <Item>(
  list: readonly Item[],
  at: number,
  page: readonly Item[],
  keyOf: (item: Item) => string | undefined,
  most = MAX_KEPT,
): { readonly items: Item[]; readonly end: End } => {
  const places = new Map(list.map((item, place) => [keyOf(item), place]));
  const placeOf = (item: Item) => (keyOf(item) === undefined ? -1 : (places.get(keyOf(item)) ?? -1));
  const added = page.filter((item) => !(placeOf(item) >= 0 && placeOf(item) < at));
  const last = added.findLast((item) => placeOf(item) >= at);
  const keys = new Set(added.map(keyOf).filter((key) => key !== undefined));
  const rest = last === undefined ? [] : list.slice(placeOf(last) + 1);
  const kept = rest.filter((item) => !keys.has(keyOf(item) ?? ''));
  const items = [...list.slice(0, at), ...added, ...kept];
  if (kept.length === 0) return { items, end: 'page' };
  return items.length > most ? { items: items.slice(0, most), end: 'cut' } : { items, end: 'list' };
};

/** The lists of a wallet that begin with the newest item. Others may change anywhere, so they begin anew when they are read again. */
const NEWEST_FIRST: readonly string[] = ['activity', 'transactions'];

/** Whether a list keeps its loaded pages when its first page is read again. */
export const keepsPages = (field: string): boolean => NEWEST_FIRST.includes(field);

/** The arguments that page a list. All others select another list. */
const PAGING: readonly string[] = ['first', 'after', 'last', 'before'];

/** The names of the arguments that select a list, sorted. */
export const selectingArguments = (args: Readonly<Record<string, unknown>> | null): string[] =>
  Object.keys(args ?? {})
    .filter((name) => !PAGING.includes(name))
    .sort();
