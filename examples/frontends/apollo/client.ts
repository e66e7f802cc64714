import { ApolloClient, ApolloLink, type FieldPolicy, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createSocket, resuming } from '../../resuming/resuming.ts';
import { retryOnce } from './retry.ts';

/** Pages a list. `keyArgs` are the arguments that select another list; `first` and `after` page it. */
const pagesOf = (keyArgs: readonly string[]): FieldPolicy => {
  const { merge, ...policy } = relayStylePagination([...keyArgs]);
  return {
    ...policy,
    // A list that failed is null. Apollo's own merge would make it an empty one that has more.
    merge: (existing, incoming, options) =>
      incoming && typeof merge === 'function' ? merge(existing, incoming, options) : (existing ?? null),
  };
};

export const createCache = () =>
  new InMemoryCache({
    typePolicies: {
      Wallet: {
        fields: {
          activity: pagesOf(['chainIds', 'chainTags', 'types', 'assetTypes', 'tokens']),
          transactions: pagesOf(['chainIds', 'chainTags']),
          collectibles: pagesOf(['chainIds', 'chainTags', 'includeSpam']),
        },
      },
    },
  });

/** `socket` carries the subscriptions. */
export const createApollo = (url: string, socket = resuming(createSocket(url))) =>
  new ApolloClient({
    cache: createCache(),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(socket),
      ApolloLink.from([retryOnce, new HttpLink({ uri: `${url}/graphql` })]),
    ),
  });
