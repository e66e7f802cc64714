import type { Client } from '@urql/core';
import { graphql } from '../__generated__/gql.ts';
import type { UrqlDeliveriesSubscription } from '../__generated__/graphql.ts';
import { codesOf } from './codes.ts';

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
export const followDeliveries = (client: Client, { read, arrived, failed }: Listener) => {
  let isOver = false;
  let stop = () => {};
  const begin = async () => {
    const { data, error } = await client.query(HEAD, {}, { requestPolicy: 'network-only' });
    if (isOver) return;
    if (!data?.deliveries) return failed(codesOf(error));
    const { head, nodes } = data.deliveries;
    read(nodes.filter((node) => node !== null));
    // `after` stays as it is: the socket continues after the last cursor by itself.
    let last = head;
    const subscription = client
      .subscription(DELIVERIES, { after: head })
      .subscribe(({ data: event, error: reason }) => {
        // urql shows the last event again beside an error, and the last error beside what comes after it.
        if (event && event.deliveries.cursor !== last) {
          last = event.deliveries.cursor;
          arrived(event.deliveries.node);
        } else if (codesOf(reason).includes('CURSOR_EXPIRED')) void begin();
        else if (reason) failed(codesOf(reason));
      });
    stop = () => subscription.unsubscribe();
  };
  void begin();
  return () => {
    isOver = true;
    stop();
  };
};
