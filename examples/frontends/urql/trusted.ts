import { persistedExchange } from '@urql/exchange-persisted';
import type { DocumentNode } from 'graphql';

/** A document as codegen's `persistedDocuments` writes it. */
type Persisted = DocumentNode & { readonly __meta__?: { readonly hash: string } };

/** Sends hashes in place of texts. */
export const trustedDocuments = persistedExchange({
  // The gateway runs no texts, so there is nothing to send after a refusal.
  enforcePersistedQueries: true,
  enableForMutation: true,
  enableForSubscriptions: true,
  async generateHash(_text, document: Persisted) {
    if (document.__meta__) return document.__meta__.hash;
    throw new Error('Expected a document that codegen has written, got another one.');
  },
});
