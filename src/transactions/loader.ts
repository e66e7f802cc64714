import { createListLoader, type ListLoader, type LoaderParts } from '../upstream/list-loader.ts';
import type { PageItem } from '../upstream/parse/page-parser.ts';
import { PAGE_SIZE, readTransactionsPage, type Transaction, transactionsRequest } from './rest.ts';

type TransactionsList = {
  readonly address: string;
  /** The service's own parameter: ids and tags, comma-separated; null for its default. */
  readonly chains: string | null;
};

export type TransactionsLoader = ListLoader<TransactionsList, PageItem<Transaction>>;

/** Details of a page are its decoded calls and events. */
export const createTransactionsLoader = (parts: LoaderParts<PageItem<Transaction>>): TransactionsLoader =>
  createListLoader(parts, {
    name: 'transactions',
    limit: () => PAGE_SIZE,
    fetch:
      (list) =>
      async ({ offset, details }, signal) => {
        const fetchedAt = Date.now();
        const request = transactionsRequest({
          ...list,
          offset,
          decode: details,
          credential: parts.credential,
        });
        const { body, bytes, computeUnits } = await parts.client.request(request, signal);
        return { page: await readTransactionsPage(body, list.address, fetchedAt), bytes, computeUnits };
      },
  });
