import process from 'node:process';

/**
 * What the gateway uses of `node:http`. An import would read all that this module exports, WebSocket among it, for which Node
 * loads its whole Fetch API. The gateway needs that for the requests that Yoga answers alone.
 */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
