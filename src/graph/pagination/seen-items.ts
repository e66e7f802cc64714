import type { PageItems } from '../../upstream/page.ts';
import { digestOf, type Returned } from './neighbours.ts';
import type { VisitedPage } from './page-walk.ts';
import type { Run } from './run.ts';

const NOTHING: Returned = { indexes: [], digests: [] };

/** The items that a walk has seen: it adds each item once. */
export class SeenItems<Value> {
  /** By identity: the number of the page that had it first. */
  readonly #pages = new Map<string, number>();
  /** Digests of items that the walk had returned before it was continued here, and that no page has had since. */
  readonly #returned: Set<string>;
  /** A page that is seen, and whose identities are not made yet: a walk of one page does not need them. */
  #first: PageItems<Value> | null = null;
  #page = 0;

  constructor(returned: readonly string[]) {
    this.#returned = new Set(returned);
  }

  /** Returns the items of the page from `start` on that were not seen before, and marks all its items as seen. */
  add(visit: VisitedPage<Value>, start: number): Run<Value>[] {
    const { items } = visit.page;
    this.#page += 1;
    if (this.#page === 1 && this.#returned.size === 0 && !items.hasRepeats) {
      this.#first = items;
      const to = items.length;
      return start < to ? [{ visit: { ...visit, returned: NOTHING }, from: start, to }] : [];
    }
    if (this.#first !== null) this.#addIdentities(this.#first);
    this.#first = null;
    return this.#addOneByOne(visit, start);
  }

  #addIdentities(items: PageItems<Value>): void {
    for (let index = 0; index < items.length; index += 1) this.#pages.set(items.identity(index), 1);
  }

  #addOneByOne(visit: VisitedPage<Value>, start: number): Run<Value>[] {
    const { items } = visit.page;
    const repeats: number[] = [];
    const runs: { from: number; to: number }[] = [];
    let from = start;
    const endRun = (to: number) => {
      if (from < to) runs.push({ from, to });
      from = Math.max(from, to + 1);
    };
    for (let index = 0; index < items.length; index += 1) {
      const identity = items.identity(index);
      const page = this.#pages.get(identity);
      if (page === undefined) this.#pages.set(identity, this.#page);
      const isRepeat = page === undefined ? this.#wasReturned(identity) : page < this.#page;
      if (isRepeat) repeats.push(index);
      if (isRepeat || page !== undefined) endRun(index);
    }
    endRun(items.length);
    const merged = { ...visit, returned: { indexes: repeats, digests: [...this.#returned] } };
    return runs.map((run) => ({ visit: merged, ...run }));
  }

  #wasReturned(identity: string): boolean {
    return this.#returned.size > 0 && this.#returned.delete(digestOf(identity));
  }
}
