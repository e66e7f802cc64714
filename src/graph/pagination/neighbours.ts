import { hash } from 'node:crypto';
import type { Page, PageItems } from '../../upstream/page.ts';

/**
 * What a cursor remembers of the items around its own. They show where the walk continues if its own item has moved or is
 * gone. Each item is a digest of its identity.
 */
export type Neighbours = {
  /** The items right before it, in the order of the list; at most NEIGHBOURS, or MAX_OF_TIME. */
  readonly before: readonly string[];
  /** The items right after it on its page. */
  readonly after: readonly string[];
  /** Items that the walk has returned and that may come again; at most MAX_RETURNED. */
  readonly returned: readonly string[];
  /** Behind the last item of a page, the offset of the next one; otherwise null, and in a list by time. */
  readonly nextOffset: string | null;
  /**
   * In a list by time, only items of the same time are remembered, since other times show their side: all that the walk had
   * returned before (`whole`), or the last of them (`part`). Null in any other list.
   */
  readonly ofTime: 'whole' | 'part' | null;
};

/** With two on either side, two items may move or disappear at once: more of the five stay than move. */
export const NEIGHBOURS = 2;

/** Every cursor behind them carries them until their pages have passed. Few items cross from one page to the next. */
const MAX_RETURNED = 64;

const DIGEST_CHARACTERS = 8;

/**
 * What a walk returned before it came to a page: the items at `indexes` on that page, and elsewhere those with `digests`.
 */
export type Returned = { readonly indexes: readonly number[]; readonly digests: readonly string[] };

export const NOTHING_RETURNED: Returned = { indexes: [], digests: [] };

export const neighboursOf = (
  { items, nextOffset }: Pick<Page<unknown>, 'items' | 'nextOffset'>,
  index: number,
  returned: Returned,
): Neighbours => ({
  before: digestsOf(items, Math.max(0, index - NEIGHBOURS), index),
  after: digestsOf(items, index + 1, Math.min(items.length, index + 1 + NEIGHBOURS)),
  returned: returnedBehind(items, index, returned),
  nextOffset: index + 1 < items.length ? null : nextOffset,
  ofTime: null,
});

/** The items that the walk has returned, and that a walk which continues behind `index` may find again. */
export const returnedBehind = (
  items: PageItems<unknown>,
  index: number,
  { indexes, digests }: Returned,
): readonly string[] =>
  [...indexes.filter((each) => each > index).map((each) => digestAt(items, each)), ...digests].slice(
    0,
    MAX_RETURNED,
  );

/** A walk continues at `index`. `agreement` is the number of remembered items on the proper side of it. */
export type Place = { readonly index: number; readonly agreement: number };

/** Whether the page has the item of a cursor and its neighbours where they were. */
export const isUnchanged = (
  items: PageItems<unknown>,
  index: number,
  identity: string,
  { before, after }: Neighbours,
): boolean =>
  index < items.length &&
  items.identity(index) === identity &&
  before.every(
    (each, place) => index >= before.length && digestAt(items, index - before.length + place) === each,
  ) &&
  after.every(
    (each, place) => index + 1 + place < items.length && digestAt(items, index + 1 + place) === each,
  );

/**
 * Returns the place after an item that most of the remembered ones agree on, the first of several; null if the page has none of them.
 */
export const findPlace = (
  items: PageItems<unknown>,
  identity: string,
  { before, after }: Neighbours,
): Place | null => {
  const indexes = new Map<string, number>();
  for (let index = items.length - 1; index >= 0; index -= 1) indexes.set(digestAt(items, index), index);
  const indexesOf = (remembered: readonly string[]): number[] =>
    remembered.flatMap((each) => indexes.get(each) ?? []);
  const passed = indexesOf([...before, digestOf(identity)]);
  const ahead = indexesOf(after);
  let best: Place | null = null;
  for (const index of [...passed.map((each) => each + 1), ...ahead].toSorted((one, other) => one - other)) {
    const agreement =
      passed.filter((each) => each < index).length + ahead.filter((each) => each >= index).length;
    if (best === null || agreement > best.agreement) best = { index, agreement };
  }
  return best;
};

const digestsOf = (items: PageItems<unknown>, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, offset) => digestAt(items, from + offset));

/** Each item is a neighbour of several others. */
const digestsOfPages = new WeakMap<PageItems<unknown>, string[]>();

export const digestAt = (items: PageItems<unknown>, index: number): string => {
  const known = digestsOfPages.get(items) ?? [];
  if (known.length === 0) digestsOfPages.set(items, known);
  known[index] ??= digestOf(items.identity(index));
  return known[index];
};

export const digestOf = (identity: string): string =>
  hash('sha256', identity, 'base64url').slice(0, DIGEST_CHARACTERS);
