import { transactions } from '../../../src/lookups/transactions.ts';
import { history } from '../upstream/builders.ts';
import { kernel } from './differential.ts';

/** The body of a page with this many transactions, of about half a kilobyte each. */
export const pageOf = (count: number): string => JSON.stringify({ transactions: history(count) });

/** Indexes a body of transactions that the kernel takes. */
export const index = (body: string) => {
  const page = kernel.index([Buffer.from(body)], transactions, 2500);
  if (page === null) throw new TypeError('Expected a body that the kernel takes.');
  return page;
};
