import type { PageItems } from '../../upstream/page.ts';
import type { VisitedPage } from './page-walk.ts';
import type { Run } from './run.ts';

/** The items that a walk has seen: it adds each item once. */
export class SeenItems<Value> {
  readonly #identities = new Set<string>();
  /** A page that is seen, and whose identities are not made yet: a walk of one page does not need them. */
  #first: PageItems<Value> | null = null;

  /** Returns the items of the page from `start` on that were not seen before, and marks all its items as seen. */
  add(visit: VisitedPage<Value>, start: number): Run<Value>[] {
    const { items } = visit.page;
    if (this.#first === null && this.#identities.size === 0 && !items.hasRepeats) {
      this.#first = items;
      return start < items.length ? [{ visit, from: start, to: items.length }] : [];
    }
    if (this.#first !== null) this.#addIdentities(this.#first);
    this.#first = null;
    return this.#addOneByOne(visit, start);
  }

  #addIdentities(items: PageItems<Value>): void {
    for (let index = 0; index < items.length; index += 1) this.#identities.add(items.identity(index));
  }

  #addOneByOne(visit: VisitedPage<Value>, start: number): Run<Value>[] {
    const { items } = visit.page;
    const runs: Run<Value>[] = [];
    let from = start;
    const endRun = (to: number) => {
      if (from < to) runs.push({ visit, from, to });
      from = Math.max(from, to + 1);
    };
    for (let index = 0; index < items.length; index += 1) {
      const identity = items.identity(index);
      if (this.#identities.has(identity)) endRun(index);
      else this.#identities.add(identity);
    }
    endRun(items.length);
    return runs;
  }
}
