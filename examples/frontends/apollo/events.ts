import type { ApolloClient } from '@apollo/client';
import { graphql } from '../__generated__/gql.ts';
import type { ApolloDeliveriesSubscription } from '../__generated__/graphql.ts';
import { codesOf } from './codes.ts';

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
export const followDeliveries = (client: ApolloClient, { read, arrived, failed }: Listener) => {
  let isOver = false;
  let stop = () => {};
  const begin = async () => {
    const { data, error } = await client.query({
      query: HEAD,
      fetchPolicy: 'network-only',
      errorPolicy: 'all',
    });
    if (isOver) return;
    if (!data?.deliveries) return failed(codesOf(error));
    const { head, nodes } = data.deliveries;
    read(nodes.filter((node) => node !== null));
    // `after` stays as it is: the socket continues after the last cursor by itself.
    const subscription = client
      .subscribe({ query: DELIVERIES, variables: { after: head }, fetchPolicy: 'no-cache' })
      .subscribe(({ data: event, error: reason }) => {
        if (event) arrived(event.deliveries.node);
        else if (codesOf(reason).includes('CURSOR_EXPIRED')) void begin();
        else failed(codesOf(reason));
      });
    stop = () => subscription.unsubscribe();
  };
  void begin();
  return () => {
    isOver = true;
    stop();
  };
};
