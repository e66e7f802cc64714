import type { AnyLookup } from '../upstream/list-lookup.ts';
import { collectibles } from './collectibles.ts';
import { transactions } from './transactions.ts';

/**
 * All lists of the service. What concerns all of them is made of this: their page caches and metrics, how long they are
 * fresh, the variables for it, and the tests that hold for each list.
 */
export const lookups: readonly AnyLookup[] = [transactions, collectibles];
