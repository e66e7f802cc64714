import {
  createListLoader,
  type ListLoader,
  type ListResource,
  type LoaderParts,
} from '../upstream/list-loader.ts';
import {
  PAGE_SIZE,
  REQUEST_COST,
  type Transaction,
  type TransactionsList,
  transactionsParser,
  transactionsRequest,
} from './rest.ts';

/** Its `details` are decoded calls and events. */
const transactions: ListResource<TransactionsList, Transaction> = {
  name: 'transactions',
  pageSize: () => PAGE_SIZE,
  cost: () => REQUEST_COST,
  request: transactionsRequest,
  parser: transactionsParser,
};

export type TransactionsLoader = ListLoader<TransactionsList, Transaction>;

export const createTransactionsLoader = (
  parts: LoaderParts<TransactionsList, Transaction>,
): TransactionsLoader => createListLoader(parts, transactions);
