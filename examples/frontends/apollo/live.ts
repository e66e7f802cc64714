import type { ApolloClient } from '@apollo/client';
import {
  createRefetching,
  follow,
  WalletActivity,
  type WalletActivityQuery,
  WalletDelivered,
  WalletDeliveries,
} from 'evm-graphql-gateway/client';

type Edges = NonNullable<WalletActivityQuery['wallet']['activity']>['edges'];

/** Shows all pages of a wallet's activity that are loaded, with newer items on top after events. */
export const openLiveActivity = (
  client: ApolloClient,
  address: string,
  show: (edges: Edges) => void,
  failed: (reason: unknown) => void,
) => {
  // Without `merge`, Apollo Client forgets all pages when it refetches.
  const options = { query: WalletActivity, variables: { address } };
  const pages = client.watchQuery({ ...options, refetchWritePolicy: 'merge' });
  const list = () => client.readQuery(options)?.wallet.activity;
  const shown = pages.subscribe(() => show(list()?.edges ?? []));
  const refetching = createRefetching(() => pages.refetch(), { failed });
  const stop = follow({
    async read() {
      const variables = { address, last: 0 };
      const { data } = await client.query({ query: WalletDeliveries, variables, fetchPolicy: 'no-cache' });
      if (!data?.deliveries) throw new Error('Expected the head of the deliveries, got nothing.');
      refetching.changed(address);
      return data.deliveries.head;
    },
    subscribe(after, ended) {
      const events = client
        .subscribe({ query: WalletDelivered, variables: { address, after }, fetchPolicy: 'no-cache' })
        .subscribe(({ data, error }) => (data ? refetching.changed(address) : ended(error)));
      return () => events.unsubscribe();
    },
    failed,
  });
  return {
    hasMore: () => list()?.pageInfo.hasNextPage === true,
    loadMore: () => pages.fetchMore({ variables: { after: list()?.pageInfo.endCursor ?? null } }),
    close() {
      stop();
      refetching.close();
      shown.unsubscribe();
    },
  };
};
