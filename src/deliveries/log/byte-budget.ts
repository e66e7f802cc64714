import { createKeyedQueue } from '../../lib/scheduling/keyed-queue.ts';
import { BudgetExceededError } from './errors.ts';
import type { LogReads } from './search-limits.ts';

/** The bytes of bodies that one operation may still read and return. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Negative when the last read exceeded the budget. */
  get left(): number {
    return this.#left;
  }

  /** Deducts bytes that were already read, even if fewer are left. */
  charge(bytes: number): void {
    this.#left -= bytes;
  }

  /** Deducts the bytes if as many are left; otherwise deducts nothing and returns false. Zero bytes always succeed. */
  tryCharge(bytes: number): boolean {
    if (bytes <= 0) return true;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/**
 * Limits the reads of one operation to the budget. Reads run one after another. A page ends early before it exceeds the rest
 * of the budget or `maxPageBytes`, but has at least one delivery. Once the budget is used up, reads reject with
 * BudgetExceededError.
 */
export const limitReads = ({ read, get }: LogReads, budget: ByteBudget, maxPageBytes: number): LogReads => {
  const queue = createKeyedQueue();
  const inOrder = <Answer>(cursor: string | null, task: () => Promise<Answer>): Promise<Answer> =>
    queue('reads', async () => {
      if (budget.left <= 0) throw new BudgetExceededError(cursor);
      return task();
    });
  return {
    read: (range) =>
      inOrder(null, async () => {
        const maxBytes = Math.min(budget.left, maxPageBytes, range.maxBytes ?? maxPageBytes);
        const page = await read({ ...range, maxBytes });
        for (const { body } of page.deliveries) budget.charge(body.byteLength);
        return page;
      }),
    get: (cursor) =>
      inOrder(cursor, async () => {
        const delivery = await get(cursor);
        if (delivery !== null) budget.charge(delivery.body.byteLength);
        return delivery;
      }),
  };
};
