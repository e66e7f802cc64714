import type { AnyItemLookup, AnyLookup } from '../upstream/lookup.ts';
import { activity } from './activity.ts';
import { approvals } from './approvals.ts';
import { balance, balances } from './balances/balances.ts';
import { collectibles } from './collectibles.ts';
import { defiPositions } from './defi/defi.ts';
import { names } from './names.ts';
import { holders } from './tokens/holders.ts';
import { market } from './tokens/market.ts';
import { search } from './tokens/search.ts';
import { transaction, transactions } from './transactions.ts';

/**
 * All lists of the service. What concerns all of them is made of this: their page caches and metrics, how long they are
 * fresh, the variables for it, and the tests that hold for each list.
 */
export const lookups: readonly AnyLookup[] = [
  transactions,
  collectibles,
  approvals,
  balances,
  holders,
  activity,
  defiPositions,
];

/** All lookups whose answer is one thing: they have no pages. Metrics, variables and caches are made of these as well. */
export const itemLookups: readonly AnyItemLookup[] = [market, search, balance, transaction, names];
