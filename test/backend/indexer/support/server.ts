import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

type ServeOptions = {
  /** Default: 127.0.0.1. */
  readonly address?: string;
  /** A certificate in PEM, for TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
};

/** A server on a free port of this machine. */
export const serve = async (listener: RequestListener, options: ServeOptions = {}) => {
  const { address = '127.0.0.1', tls } = options;
  let connections = 0;
  const server = (tls ? createTlsServer(tls, listener) : createServer(listener)).listen(0, address);
  server.on('connection', () => {
    connections += 1;
  });
  await once(server, 'listening');
  return {
    host: `${address}:${(server.address() as AddressInfo).port}`,
    /** How many it was asked for. */
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const CHUNK = Buffer.alloc(1024 * 1024, ' ');

/** Answers with 1 GB, as fast as it is read. */
export const endless = () => {
  let sent = 0;
  const listener: RequestListener = (_, response) => {
    const write = (): void => {
      while (!response.destroyed && sent < 1024 * CHUNK.length) {
        sent += CHUNK.length;
        if (!response.write(CHUNK)) {
          response.once('drain', write);
          return;
        }
      }
      response.end();
    };
    write();
  };
  return { listener, sent: () => sent };
};
