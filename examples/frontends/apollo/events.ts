import type { ApolloClient } from '@apollo/client';
import { codesOf, follow } from 'evm-graphql-gateway/client';
import { graphql } from '../__generated__/gql.ts';
import type { ApolloDeliveriesSubscription } from '../__generated__/graphql.ts';

const HEAD = graphql(`
  query ApolloHead {
    deliveries(last: 20) { head nodes { id type payload } }
  }
`);

const DELIVERIES = graphql(`
  subscription ApolloDeliveries($after: String!) {
    deliveries(after: $after) { cursor node { id type payload } }
  }
`);

type Delivery = ApolloDeliveriesSubscription['deliveries']['node'];

type Listener = {
  /** The newest deliveries of the log, in place of what was shown before. */
  read(deliveries: readonly Delivery[]): void;
  arrived(delivery: Delivery): void;
  failed(codes: readonly string[]): void;
};

/** Reads the newest deliveries, and then brings each later one. Returns a function that ends it. */
export const followDeliveries = (client: ApolloClient, { read, arrived, failed }: Listener) =>
  follow({
    async read() {
      const { data } = await client.query({ query: HEAD, fetchPolicy: 'network-only' });
      if (!data?.deliveries) throw new Error('Expected the deliveries, got nothing.');
      read(data.deliveries.nodes.filter((node) => node !== null));
      return data.deliveries.head;
    },
    // `after` stays as it is: the socket continues after the last cursor by itself.
    subscribe(after, ended) {
      const subscription = client
        .subscribe({ query: DELIVERIES, variables: { after }, fetchPolicy: 'no-cache' })
        .subscribe(({ data, error }) => (data ? arrived(data.deliveries.node) : ended(error)));
      return () => subscription.unsubscribe();
    },
    failed: (reason) => failed(codesOf(reason)),
  });
