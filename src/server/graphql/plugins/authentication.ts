import type { Authenticate } from '../../auth/authenticate.ts';
import type { ClientAddress } from '../../http/client-address.ts';
import type { ServerPlugin } from '../server-context.ts';

/**
 * Authenticates each HTTP request before any of its body is read, unless its caller is known already. A WebSocket is
 * authenticated in websocket/.
 */
export const useAuthentication = (
  authenticate: Authenticate,
  clientAddress: ClientAddress,
): ServerPlugin => ({
  async onRequestParse({ request, serverContext }) {
    const { req } = serverContext;
    serverContext.httpCaller ??= await authenticate(request.headers, req && (() => clientAddress(req)));
  },
});
