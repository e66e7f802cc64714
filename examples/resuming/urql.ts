import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core';
import type { Sink } from 'graphql-ws';
import { createSocket } from './graphql-ws.ts';
import type { Edge, Subscribe } from './page.ts';

const DELIVERIES = gql<{ deliveries: Edge }, { after: string }>`
  subscription ($after: String!) {
    deliveries(after: $after) { cursor node { payload } }
  }
`;

export const byUrql = (url: string): Subscribe => {
  const socket = createSocket(url);
  const client = new Client({
    url: `${url}/graphql`,
    preferGetMethod: false,
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink as Sink) }),
        }),
      }),
    ],
  });
  return (after, delivery, failed) => {
    let shown = after;
    const { unsubscribe } = client.subscription(DELIVERIES, { after }).subscribe(({ data, error }) => {
      // urql shows the last data again beside an error, and the last error beside what comes after it.
      if (data && data.deliveries.cursor !== shown) {
        shown = data.deliveries.cursor;
        delivery(data.deliveries);
      } else if (error) failed(error);
    });
    return unsubscribe;
  };
};
