import { ApolloClient, ApolloLink, HttpLink } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { type DocumentNode, OperationTypeNode } from 'graphql';
import type { Client } from 'graphql-ws';
import { createSocket, resuming } from '../../resuming/resuming.ts';
import { createCache } from './client.ts';

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
    cache: createCache(),
    link: ApolloLink.from([
      hashes,
      ApolloLink.split(
        ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
        new GraphQLWsLink(withoutTexts(resuming(createSocket(url)))),
        new HttpLink({ uri: `${url}/graphql` }),
      ),
    ]),
  });
