import type { Client } from '@urql/core';
import {
  createRefetching,
  follow,
  WalletActivity,
  type WalletActivityQuery,
  WalletDelivered,
  WalletDeliveries,
} from 'evm-graphql-gateway/client';

type List = NonNullable<WalletActivityQuery['wallet']['activity']>;

/** Shows all pages of a wallet's activity that are loaded, with newer items on top after events. */
export const openLiveActivity = (
  client: Client,
  address: string,
  show: (edges: List['edges']) => void,
  failed: (reason: unknown) => void,
) => {
  let list: List | null = null;
  const shown = client.query(WalletActivity, { address }).subscribe(({ data }) => {
    list = data?.wallet.activity ?? list;
    show(list?.edges ?? []);
  });
  const refetching = createRefetching(
    async () => client.query(WalletActivity, { address }, { requestPolicy: 'network-only' }),
    { failed },
  );
  const stop = follow({
    async read() {
      const { data, error } = await client.query(
        WalletDeliveries,
        { address, last: 0 },
        { requestPolicy: 'network-only' },
      );
      if (!data?.deliveries) throw error ?? new Error('Expected the head of the deliveries, got nothing.');
      refetching.changed(address);
      return data.deliveries.head;
    },
    subscribe: (after, ended) =>
      client
        .subscription(WalletDelivered, { address, after })
        .subscribe(({ data, error }) => (data ? refetching.changed(address) : ended(error))).unsubscribe,
    failed,
  });
  return {
    hasMore: () => list?.pageInfo.hasNextPage === true,
    loadMore: async () => client.query(WalletActivity, { address, after: list?.pageInfo.endCursor ?? null }),
    close() {
      stop();
      refetching.close();
      shown.unsubscribe();
    },
  };
};
