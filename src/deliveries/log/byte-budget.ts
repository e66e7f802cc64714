import { BudgetSpentError } from './errors.ts';
import type { LogReads } from './search-limits.ts';

/** How many bytes of bodies one operation may still read and give. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Below zero when the last that was read came to more than was left. */
  get left(): number {
    return this.#left;
  }

  /** Of what is there already. */
  charge(bytes: number): void {
    this.#left -= bytes;
  }

  /** False when there are not as many left. Nothing can always be taken. */
  take(bytes: number): boolean {
    if (bytes <= 0) return true;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/**
 * Reads one after another, until the bodies read have used the budget up. A page ends early rather than bring
 * more than is left, or more than `maxPageBytes`, but brings one delivery at least. Once nothing is left, rejects with
 * BudgetSpentError.
 */
export const limitReads = ({ read, get }: LogReads, budget: ByteBudget, maxPageBytes: number): LogReads => {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Answer>(cursor: string | null, task: () => Promise<Answer>): Promise<Answer> => {
    const answer = last.then(() => {
      if (budget.left <= 0) throw new BudgetSpentError(cursor);
      return task();
    });
    last = answer.catch(() => {});
    return answer;
  };
  return {
    read: (range) =>
      inTurn(null, async () => {
        const maxBytes = Math.min(budget.left, maxPageBytes, range.maxBytes ?? maxPageBytes);
        const page = await read({ ...range, maxBytes });
        for (const { body } of page.deliveries) budget.charge(body.byteLength);
        return page;
      }),
    get: (cursor) =>
      inTurn(cursor, async () => {
        const delivery = await get(cursor);
        if (delivery !== null) budget.charge(delivery.body.byteLength);
        return delivery;
      }),
  };
};
