import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../../../context.ts';
import type { Documents } from './documents.ts';

/** Prepares the documents of HTTP requests; server/websocket/operation.ts prepares those of WebSockets. */
export const useDocumentPreparation = ({ prepare }: Documents): Plugin => ({
  async onParams({ params: { query }, request, context }) {
    const { admitted } = context as { readonly admitted?: Caller };
    if (typeof query === 'string' && admitted) await prepare(query, admitted.billingKey, request.signal);
  },
});
