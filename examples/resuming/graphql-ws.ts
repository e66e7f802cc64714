import type { Edge, Subscribe } from './follow.ts';
import { createSocket, resuming } from './resuming.ts';

const DELIVERIES = `
  subscription ($after: String!) {
    deliveries(after: $after) { cursor node { payload } }
  }
`;

export const byGraphQLWs = (url: string): Subscribe => {
  const client = resuming(createSocket(url));
  return (after, { delivery, failed }) =>
    client.subscribe<{ deliveries: Edge }>(
      { query: DELIVERIES, variables: { after } },
      {
        next: ({ data, errors }) => (data ? delivery(data.deliveries) : failed(errors ?? [])),
        error: (reason) => failed(Array.isArray(reason) ? reason : [reason]),
        complete: () => {},
      },
    );
};
