import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server as NetServer } from 'node:net';

/**
 * libuv accepts one connection of a listening socket in a turn of the event loop. While turns are long, a client that
 * connects would wait for as many of them as others connect before it. So the server listens by several sockets on one
 * port, among which Linux distributes connections (SO_REUSEPORT).
 */
const LISTENERS = 16;

/** The sockets by which an HTTP server listens. */
export type Listeners = {
  /**
   * Resolves to the bound address. Rejects when it can't be bound, and when another process listens there,
   * which SO_REUSEPORT alone would allow. Where the system has no SO_REUSEPORT, the server listens by one socket.
   */
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Stops accepting. Resolves when all connections have ended. */
  close(): Promise<void>;
};

export const createListeners = (server: Server): Listeners => {
  const others: NetServer[] = [];
  /** As an HTTP server accepts connections. */
  const createOther = () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));

  return {
    async listen(host, port) {
      if (port !== 0) await closed(await listening(createServer(), { host, port }));
      try {
        await listening(server, { host, port, reusePort: true });
      } catch (error) {
        if (!isUnsupported(error)) throw error;
        await listening(server, { host, port });
        return server.address() as AddressInfo;
      }
      const bound = server.address() as AddressInfo;
      while (others.length < LISTENERS - 1)
        others.push(
          await listening(createOther(), { host: bound.address, port: bound.port, reusePort: true }),
        );
      return bound;
    },
    close: async () => void (await Promise.all([server, ...others].map(closed))),
  };
};

const listening = async <Listener extends NetServer>(
  server: Listener,
  options: ListenOptions,
): Promise<Listener> => {
  server.listen(options);
  await once(server, 'listening');
  return server;
};

const closed = (server: NetServer): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOTSUP';
