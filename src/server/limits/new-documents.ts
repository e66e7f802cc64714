import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../../context.ts';
import type { Documents } from './documents.ts';

/** Has HTTP's documents read in their clients' turns; WebSockets ask for it themselves, see websocket/operation.ts. */
export const useNewDocuments = ({ prepare }: Documents): Plugin => ({
  async onParams({ params: { query }, request, context }) {
    const { admitted } = context as { readonly admitted?: Caller };
    if (typeof query === 'string' && admitted) await prepare(query, admitted.payer, request.signal);
  },
});
