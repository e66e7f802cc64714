import process from 'node:process';

/**
 * What the gateway uses of `node:http`. Importing that module reads all of its exports. One is WebSocket, for which Node loads
 * its whole Fetch API, and only the requests that Yoga answers need that.
 */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
