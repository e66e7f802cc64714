import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../../context.ts';
import type { Authenticate } from './authenticate.ts';

type ServerContext = {
  readonly req?: { readonly socket: { readonly remoteAddress?: string | undefined } };
  /** The client of an HTTP request, once it has shown its credentials. */
  admitted?: Caller;
};

/** Refuses an HTTP request that does not show what it has to, before anything of its body is read. */
export const useAuthentication = (authenticate: Authenticate): Plugin => ({
  async onRequestParse({ request, serverContext }) {
    const arrival = serverContext as ServerContext;
    arrival.admitted = await authenticate(request.headers, arrival.req?.socket.remoteAddress);
  },
});
