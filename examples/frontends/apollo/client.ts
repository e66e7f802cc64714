import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { apolloCacheOptions, reconnecting, resuming } from 'evm-graphql-gateway/client';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { retryOnce } from './retry.ts';

/** A socket that always reconnects, and whose subscriptions go on after the last delivery that has arrived. */
export const createSocket = (url: string) =>
  resuming(createClient({ url: `${url.replace('http', 'ws')}/graphql`, ...reconnecting }));

/** `socket` carries the subscriptions. */
export const createApollo = (url: string, socket = createSocket(url)) =>
  new ApolloClient({
    cache: new InMemoryCache(apolloCacheOptions),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(socket),
      ApolloLink.from([retryOnce, new HttpLink({ uri: `${url}/graphql` })]),
    ),
  });
