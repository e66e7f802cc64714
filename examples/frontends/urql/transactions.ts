import type { Client } from '@urql/core';
import { codesOf } from 'evm-graphql-gateway/client';
import { graphql } from '../__generated__/gql.ts';
import type { UrqlTransactionsQuery } from '../__generated__/graphql.ts';

const TRANSACTIONS = graphql(`
  query UrqlTransactions($address: Address!, $after: String) {
    wallet(address: $address) {
      id
      transactions(first: 20, after: $after) {
        edges { cursor node { id hash value } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);

type Connection = NonNullable<UrqlTransactionsQuery['wallet']['transactions']>;

type Show = (edges: Connection['edges'], codes: readonly string[]) => void;

/** Shows all pages so far whenever one arrives, with the codes of what has failed. */
export const openTransactions = (client: Client, address: string, show: Show) => {
  let list: Connection | null = null;
  const load = async (after: string | null) => {
    const { data, error } = await client.query(TRANSACTIONS, { address, after });
    // A page that fails leaves the pages before it as they are.
    list = data?.wallet.transactions ?? list;
    show(list?.edges ?? [], codesOf(error));
  };
  return {
    first: load(null),
    hasMore: () => list?.pageInfo.hasNextPage === true,
    loadMore: () => load(list?.pageInfo.endCursor ?? null),
  };
};
