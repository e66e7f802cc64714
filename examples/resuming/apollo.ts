import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createSocket } from './graphql-ws.ts';
import type { Edge, Subscribe } from './page.ts';

const DELIVERIES = gql`
  subscription ($after: String!) {
    deliveries(after: $after) { cursor node { payload } }
  }
`;

export const byApollo = (url: string): Subscribe => {
  const client = new ApolloClient({
    link: new GraphQLWsLink(createSocket(url)),
    cache: new InMemoryCache(),
  });
  return (after, delivery, failed) => {
    const subscription = client
      .subscribe<{ deliveries: Edge }>({ query: DELIVERIES, variables: { after }, fetchPolicy: 'no-cache' })
      .subscribe(({ data, error }) => {
        if (data) delivery(data.deliveries);
        else if (error) failed(error);
      });
    return () => subscription.unsubscribe();
  };
};
