import type { PageItems } from '../../upstream/page.ts';
import type { CursorPosition } from './cursor.ts';
import { digestAt, digestOf } from './neighbours.ts';

/*
 * Items of the same time in a list by time: of several chains, or of a chain with several blocks a second. Their time does
 * not show which of them a walk has returned.
 */

/** The cursor of an item in a list that descends by a number, such as a time. */
export type Ranked = CursorPosition & { readonly rank: number };

/** What a walk has returned of one time, on the pages before. */
export type ReturnedOfTime = {
  /** Null before the first item, and if it is not known. */
  readonly time: number | null;
  /** Digests of the items, in the order of the list. */
  readonly digests: readonly string[];
  /** Whether these are all. */
  readonly isWhole: boolean;
};

/** Whether it is known what a walk has returned of this time, if it has returned `before` and then came to the time. */
export const knowsWhole = ({ time, isWhole }: ReturnedOfTime, next: number): boolean =>
  isWhole || (time !== null && time !== next);

/** Whether an item may have this time. It is not known of an item that can't be parsed. */
export const mayHaveTime = (rank: number | null, time: number): boolean => rank === null || rank === time;

const ordered = new WeakMap<PageItems<unknown>, boolean>();

/** Whether the service keeps to the order of a list that descends by a number, on this page. */
export const isInOrder = (items: PageItems<unknown>): boolean => {
  const known = ordered.get(items);
  if (known !== undefined) return known;
  let last = Number.POSITIVE_INFINITY;
  let isDescending = true;
  for (let index = 0; isDescending && index < items.length; index += 1) {
    const rank = items.rank(index) ?? last;
    isDescending = rank <= last;
    last = rank;
  }
  ordered.set(items, isDescending);
  return isDescending;
};

/**
 * Returns the index of a cursor's item if it is still in place: with its time, right behind the items of this time that the
 * walk had returned before. Otherwise -1. `isAfterNewer`: nothing of this time is on the pages before.
 */
export const indexInPlace = (
  items: PageItems<unknown>,
  { index: indexBefore, identity, rank, neighbours: { before, ofTime } }: Ranked,
  isAfterNewer: boolean,
): number => {
  const index = items.indexOf(identity);
  if (index < 0 || !mayHaveTime(items.rank(index), rank)) return -1;
  for (let back = Math.min(index, before.length); back > 0; back -= 1)
    if (digestAt(items, index - back) !== before.at(-back)) return -1;
  const ahead = index - before.length - 1;
  if (ahead >= 0) return ofTime === 'whole' && mayHaveTime(items.rank(ahead), rank) ? -1 : index;
  // What is ahead of the page may have changed only if items have moved up to there.
  const isInPlace = isAfterNewer ? index === before.length : index >= indexBefore;
  return isInPlace ? index : -1;
};

/**
 * Returns the place after a cursor's item among items of its time, if at least two of the remembered ones are on the page, and
 * these still follow each other; otherwise null. The place is right unless all of them have moved together.
 */
export const placeOfTime = (
  items: PageItems<unknown>,
  { identity, rank, neighbours: { before, after } }: Ranked,
): number | null => {
  const places = new Map([...before, digestOf(identity), ...after].map((digest, place) => [digest, place]));
  const found: { readonly index: number; readonly place: number }[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const place = mayHaveTime(items.rank(index), rank) ? places.get(digestAt(items, index)) : undefined;
    const last = found.at(-1);
    if (place === undefined) continue;
    if (last !== undefined && (last.index + 1 < index || last.place > place)) return null;
    found.push({ index, place });
  }
  const [first] = found;
  if (first === undefined || found.length < 2) return null;
  return first.index + found.filter(({ place }) => place <= before.length).length;
};
