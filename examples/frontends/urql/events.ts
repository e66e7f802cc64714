import type { Client } from '@urql/core';
import { codesOf, follow } from 'evm-graphql-gateway/client';
import { graphql } from '../__generated__/gql.ts';
import type { UrqlDeliveriesSubscription } from '../__generated__/graphql.ts';

const HEAD = graphql(`
  query UrqlHead {
    deliveries(last: 20) { head nodes { id type payload } }
  }
`);

const DELIVERIES = graphql(`
  subscription UrqlDeliveries($after: String!) {
    deliveries(after: $after) { cursor node { id type payload } }
  }
`);

type Delivery = UrqlDeliveriesSubscription['deliveries']['node'];

type Listener = {
  /** The newest deliveries of the log, in place of what was shown before. */
  read(deliveries: readonly Delivery[]): void;
  arrived(delivery: Delivery): void;
  failed(codes: readonly string[]): void;
};

/** Reads the newest deliveries, and then brings each later one. Returns a function that ends it. */
export const followDeliveries = (client: Client, { read, arrived, failed }: Listener) =>
  follow({
    async read() {
      const { data, error } = await client.query(HEAD, {}, { requestPolicy: 'network-only' });
      if (!data?.deliveries) throw error ?? new Error('Expected the deliveries, got nothing.');
      read(data.deliveries.nodes.filter((node) => node !== null));
      return data.deliveries.head;
    },
    // `after` stays as it is: the socket continues after the last cursor by itself.
    subscribe(after, ended) {
      let last = after;
      return client.subscription(DELIVERIES, { after }).subscribe(({ data, error }) => {
        // urql shows the last event again beside an error, and the last error beside what comes after it.
        if (data && data.deliveries.cursor !== last) {
          last = data.deliveries.cursor;
          arrived(data.deliveries.node);
        } else if (error) ended(error);
      }).unsubscribe;
    },
    failed: (reason) => failed(codesOf(reason)),
  });
