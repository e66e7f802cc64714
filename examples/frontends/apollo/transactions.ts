import type { ApolloClient } from '@apollo/client';
import { graphql } from '../__generated__/gql.ts';
import type { ApolloTransactionsQuery } from '../__generated__/graphql.ts';
import { openPages, type Show } from './pages.ts';

const TRANSACTIONS = graphql(`
  query ApolloTransactions($address: Address!, $after: String) {
    wallet(address: $address) {
      id
      transactions(first: 20, after: $after) {
        edges { cursor node { id hash value } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);

type Connection = NonNullable<ApolloTransactionsQuery['wallet']['transactions']>;

export const openTransactions = (client: ApolloClient, address: string, show: Show<Connection>) =>
  openPages(client, TRANSACTIONS, ({ wallet }) => wallet.transactions, address, show);
