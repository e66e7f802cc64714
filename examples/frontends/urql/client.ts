import { Client, type Exchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import type { Sink } from 'graphql-ws';
import { createSocket, resuming } from '../../resuming/resuming.ts';

const cache = () =>
  cacheExchange({
    // One list for each wallet and each set of the other arguments; `first` and `after` page it.
    resolvers: { Wallet: { transactions: relayPagination(), collectibles: relayPagination() } },
    // These have no id, so they are parts of the object that they are selected below.
    keys: {
      Log: () => null,
      DecodedCall: () => null,
      DecodedEvent: () => null,
      DecodedInput: () => null,
      Portfolio: () => null,
      PortfolioChange: () => null,
      BalanceChange: () => null,
    },
  });

/** `before` stands before what sends: for trusted documents. `socket` carries the subscriptions. */
export const createUrql = (
  url: string,
  before: readonly Exchange[] = [],
  socket = resuming(createSocket(url)),
) =>
  new Client({
    url: `${url}/graphql`,
    preferGetMethod: false,
    exchanges: [
      cache(),
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
