import { reconnecting, resuming } from 'evm-graphql-gateway/client';
import { createClient } from 'graphql-ws';
import type { Edge, Subscribe } from './page.ts';

const DELIVERIES = `
  subscription ($after: String!) {
    deliveries(after: $after) { cursor node { payload } }
  }
`;

/** A socket that always reconnects, and whose subscriptions go on after the last delivery that has arrived. */
export const createSocket = (url: string) =>
  resuming(createClient({ url: `${url.replace('http', 'ws')}/graphql`, ...reconnecting }));

export const byGraphQLWs = (url: string): Subscribe => {
  const socket = createSocket(url);
  return (after, delivery, failed) =>
    socket.subscribe<{ deliveries: Edge }>(
      { query: DELIVERIES, variables: { after } },
      {
        next: ({ data, errors }) => (data ? delivery(data.deliveries) : failed(errors)),
        error: failed,
        complete: () => {},
      },
    );
};
