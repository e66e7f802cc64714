import type { ReadPage } from '../../upstream/list-loader.ts';
import type { Page, PageItems } from '../../upstream/page.ts';
import { indexByRank, MAX_PAGES, type VisitedPage, type WalkStart, walkPages } from './page-walk.ts';
import type { Run } from './run.ts';
import { SeenItems } from './seen-items.ts';

/** A page, and the items that it adds to the walk. */
export type PageSlice<Value> = { readonly page: Page<Value>; readonly runs: readonly Run<Value>[] };

/** The last item of a page. */
type Last<Value> = { readonly items: PageItems<Value>; readonly index: number };

/**
 * Where a shifted page continues the walk: at `index`, behind the last item. `includesLast`: the page repeats that item,
 * so everything on the pages read since lies before it.
 */
type Seam = { readonly index: number; readonly includesLast: boolean };

/**
 * Merges the pages from `start` on into one list: yields each page with the items that it adds. Items arrive or
 * move meanwhile, so a page may repeat items of the pages before: each item is added once. Of a list by time, what has arrived
 * at the head since is left out as well. A page that does not show where it continues waits for the next one, for at most
 * MAX_PAGES pages.
 */
export async function* mergePages<Value>(
  read: ReadPage<Value>,
  start: WalkStart,
): AsyncGenerator<PageSlice<Value>, void, undefined> {
  const seen = new SeenItems<Value>(start.returned);
  let last: Last<Value> | null = null;
  let pending: VisitedPage<Value>[] = [];
  for await (const visit of walkPages(read, start)) {
    const { items, nextOffset } = visit.page;
    pending.push(visit);
    const isLastPage = nextOffset === null || pending.length === MAX_PAGES;
    const seam: Seam | null =
      last === null ? { index: start.index, includesLast: false } : seamOf(items, last, isLastPage);
    if (seam === null) continue;
    for (const earlier of pending.slice(0, -1)) {
      // Items newer than `last` are skipped. If one of them is really older, a later page repeats it, behind `last`.
      const runs =
        seam.includesLast || last === null
          ? []
          : seen.add(earlier, firstAtOrAfter(earlier.page.items, timeOf(last)));
      yield { page: earlier.page, runs };
    }
    yield { page: visit.page, runs: seen.add(visit, seam.index) };
    if (items.length > 0 && (last === null || seam.index < items.length))
      last = { items, index: items.length - 1 };
    pending = [];
  }
}

/** Only items that arrive at the head shift a page as a whole. In any other list a repeated item says nothing of the others. */
const seamOf = <Value>(items: PageItems<Value>, last: Last<Value>, isLastPage: boolean): Seam | null =>
  items.order === 'newestFirst' ? findSeam(items, last, isLastPage) : { index: 0, includesLast: false };

/**
 * A page that has shifted begins with items from before `last`, perhaps with `last` itself. Items of the same time don't
 * show on which side of `last` they are: the result is null when only the next page can show it.
 */
const findSeam = <Value>(items: PageItems<Value>, last: Last<Value>, isLastPage: boolean): Seam | null => {
  const repeated = items.indexOf(last.items.identity(last.index));
  if (repeated >= 0) return { index: repeated + 1, includesLast: true };
  const lastTime = timeOf(last);
  const isDecided =
    isLastPage || lastTime === null || indexByRank(items, (time) => time === null || time < lastTime) >= 0;
  return isDecided ? { index: firstAtOrAfter(items, lastTime), includesLast: false } : null;
};

const timeOf = <Value>({ items, index }: Last<Value>): number | null => items.rank(index);

/** Returns the index of the first item that is not newer than the last one; the length when all are. */
const firstAtOrAfter = <Value>(items: PageItems<Value>, lastTime: number | null): number => {
  const index = indexByRank(items, (time) => time === null || lastTime === null || time <= lastTime);
  return index < 0 ? items.length : index;
};
