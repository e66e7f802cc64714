import type { ApolloClient } from '@apollo/client';
import { codesOf, createRefetching } from 'evm-graphql-gateway/client';
import { graphql } from '../__generated__/gql.ts';
import type { ApolloWalletsQuery } from '../__generated__/graphql.ts';

const WALLETS = graphql(`
  query ApolloWallets($addresses: [Address!]!, $chainIds: [ChainId!]) {
    deliveries(last: 0) { head }
    wallets(addresses: $addresses) {
      id
      address
      portfolio(chainIds: $chainIds) { totalUsd isComplete }
    }
  }
`);

const BALANCE_CHANGES = graphql(`
  subscription ApolloWalletsBalanceChanges($addresses: [Address!]!, $after: String!) {
    deliveries(after: $after, filter: { types: [BALANCES], addresses: $addresses }) {
      cursor
      node { events { ... on BalanceChange { subscribedAddress } } }
    }
  }
`);

type Wallets = ApolloWalletsQuery['wallets'];

/** Without `chainIds`, the totals are of all default chains. */
type Wanted = { readonly addresses: string[]; readonly chainIds?: number[] };

/** Shows the totals of up to a hundred wallets. After changes of balances, only their wallets are read again. */
export const openWallets = async (
  client: ApolloClient,
  { addresses, chainIds }: Wanted,
  show: (wallets: Wallets, codes: readonly string[]) => void,
) => {
  const read = (some: string[]) =>
    client.query({
      query: WALLETS,
      variables: { addresses: some, chainIds },
      fetchPolicy: 'network-only',
      errorPolicy: 'all',
    });
  const { data, error } = await read(addresses);
  let wallets = data?.wallets ?? [];
  show(wallets, codesOf(error));
  if (!data?.deliveries) return () => {};

  // Once for all events of a while, and one after the other: an older answer never replaces a newer one.
  const refetching = createRefetching(async (changed: readonly string[]) => {
    const again = await read([...changed]);
    wallets = wallets.map(
      (wallet) => again.data?.wallets.find(({ address }) => address === wallet.address) ?? wallet,
    );
    show(wallets, codesOf(again.error));
  });
  const variables = { addresses, after: data.deliveries.head };
  const subscription = client
    .subscribe({ query: BALANCE_CHANGES, variables, fetchPolicy: 'no-cache' })
    .subscribe(({ data: event, error: reason }) => {
      if (!event) return show(wallets, codesOf(reason));
      for (const change of event.deliveries.node.events)
        if (change.__typename === 'BalanceChange' && addresses.includes(change.subscribedAddress ?? ''))
          refetching.changed(change.subscribedAddress ?? '');
    });
  return () => {
    refetching.close();
    subscription.unsubscribe();
  };
};
