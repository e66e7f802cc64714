import type { Authenticate } from '../../auth/authenticate.ts';
import type { ServerPlugin } from '../server-context.ts';

/**
 * Authenticates each HTTP request before any of its body is read, unless its caller is known already. A WebSocket is
 * authenticated in websocket/.
 */
export const useAuthentication = (authenticate: Authenticate): ServerPlugin => ({
  async onRequestParse({ request, serverContext }) {
    serverContext.httpCaller ??= await authenticate(request.headers, serverContext.req?.socket.remoteAddress);
  },
});
