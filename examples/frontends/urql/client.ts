import { Client, type Exchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { graphcacheOptions, reconnecting, resuming } from 'evm-graphql-gateway/client';
import { createClient, type Sink } from 'graphql-ws';

/** A socket that always reconnects, and whose subscriptions go on after the last delivery that has arrived. */
export const createSocket = (url: string) =>
  resuming(createClient({ url: `${url.replace('http', 'ws')}/graphql`, ...reconnecting }));

/** `before` stands before what sends: for trusted documents. `socket` carries the subscriptions. */
export const createUrql = (url: string, before: readonly Exchange[] = [], socket = createSocket(url)) =>
  new Client({
    url: `${url}/graphql`,
    preferGetMethod: false,
    exchanges: [
      cacheExchange(graphcacheOptions),
      ...before,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables, extensions }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query, variables, extensions }, sink as Sink),
          }),
        }),
      }),
    ],
  });
