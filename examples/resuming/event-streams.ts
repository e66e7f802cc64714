import { createEventStreams } from 'evm-graphql-gateway/client';
import type { Edge, Subscribe } from './page.ts';

const DELIVERIES = `
  subscription ($after: String!) {
    deliveries(after: $after) { cursor node { payload } }
  }
`;

export const byEventStreams = (url: string): Subscribe => {
  const streams = createEventStreams({ url: `${url}/graphql` });
  return (after, delivery, failed) =>
    streams.subscribe<{ deliveries: Edge }>(
      { query: DELIVERIES, variables: { after } },
      {
        next: ({ data, errors }) => (data ? delivery(data.deliveries) : failed(errors)),
        error: failed,
        complete: () => {},
      },
    );
};
