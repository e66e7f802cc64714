import fc from 'fast-check';
import type { PagingScheme } from './paging.ts';

/**
 * Page sizes in turn: shorter than the limit, and empty ones that lead on.
 * One in each round is large, so that a list of some dozens ends after some dozens of requests.
 */
const sizes = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }).map((few) => [...few, 5]);

/** Every way to page that keeps the service's contract. */
export const anyScheme: fc.Arbitrary<PagingScheme> = fc.record(
  {
    by: fc.constantFrom('item' as const, 'position' as const),
    sizes,
    end: fc.constantFrom('absent' as const, 'null' as const, 'empty' as const),
    trailingPage: fc.boolean(),
  },
  { requiredKeys: ['by'] },
);

export const anyLength = fc.integer({ min: 0, max: 40 });

/** How many transactions share a block: with several, a time does not tell them apart. */
export const anyBlockSize = fc.integer({ min: 1, max: 4 });

/** How much the head grows at each turn; later turns bring nothing, so that a walk can catch up. */
export const anyGrowth = fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 6 });
