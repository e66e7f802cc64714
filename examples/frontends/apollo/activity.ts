import type { ApolloClient } from '@apollo/client';
import { graphql } from '../__generated__/gql.ts';
import type { ApolloActivityQuery } from '../__generated__/graphql.ts';
import { openPages, type Show } from './pages.ts';

const ACTIVITY = graphql(`
  query ApolloActivity($address: Address!, $after: String) {
    wallet(address: $address) {
      id
      activity(first: 20, after: $after) {
        edges { cursor node { id typeName blockTime transactionHash value token { id symbol decimals } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);

type Connection = NonNullable<ApolloActivityQuery['wallet']['activity']>;

export const openActivity = (client: ApolloClient, address: string, show: Show<Connection>) =>
  openPages(client, ACTIVITY, ({ wallet }) => wallet.activity, address, show);
