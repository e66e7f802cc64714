import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { apolloCacheOptions } from 'evm-graphql-gateway/client';
import { type DocumentNode, OperationTypeNode } from 'graphql';
import type { Client } from 'graphql-ws';
import { createSocket } from './client.ts';

/** A document as codegen's `persistedDocuments` writes it. */
type Persisted = DocumentNode & { readonly __meta__?: { readonly hash: string } };

const hashes = new PersistedQueryLink({
  generateHash(document: Persisted) {
    if (document.__meta__) return document.__meta__.hash;
    throw new Error('Expected a document that codegen has written, got another one.');
  },
  // The gateway runs no texts, so there is nothing to send after a refusal.
  retry: () => false,
  disable: () => false,
});

/** GraphQLWsLink sends the text beside the hash, and not as codegen has printed it. This leaves it out. */
const withoutTexts = (client: Client): Client => ({
  ...client,
  subscribe: (payload, sink) => client.subscribe({ ...payload, query: '' }, sink),
});

/** Sends hashes in place of texts. */
export const createTrustedApollo = (url: string) =>
  new ApolloClient({
    cache: new InMemoryCache(apolloCacheOptions),
    link: ApolloLink.from([
      hashes,
      ApolloLink.split(
        ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
        new GraphQLWsLink(withoutTexts(createSocket(url))),
        new HttpLink({ uri: `${url}/graphql` }),
      ),
    ]),
  });
