import type { ApolloClient } from '@apollo/client';
import { graphql } from '../__generated__/gql.ts';
import type { ApolloTransactionsQuery } from '../__generated__/graphql.ts';
import { codesOf } from './codes.ts';

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

type Show = (edges: Connection['edges'], codes: readonly string[]) => void;

/** Shows all pages so far whenever they change, with the codes of what has failed. */
export const openTransactions = (client: ApolloClient, address: string, show: Show) => {
  const options = { query: TRANSACTIONS, variables: { address } };
  const pages = client.watchQuery({ ...options, errorPolicy: 'all' });
  /** All pages so far, as the cache has merged them. */
  const connection = () => client.readQuery(options)?.wallet.transactions;
  const subscription = pages.subscribe(({ loading, error }) => {
    if (!loading) show(connection()?.edges ?? [], codesOf(error));
  });
  return {
    hasMore: () => connection()?.pageInfo.hasNextPage === true,
    /** A page that fails leaves the pages before it as they are. */
    async loadMore() {
      const after = connection()?.pageInfo.endCursor ?? null;
      const { error } = await pages.fetchMore({ variables: { after }, errorPolicy: 'all' });
      show(connection()?.edges ?? [], codesOf(error));
    },
    close: () => subscription.unsubscribe(),
  };
};
