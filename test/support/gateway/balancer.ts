import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const CHECK_EVERY_MS = 100;

/**
 * A TCP load balancer: each connection goes to the next backend that was ready when last asked. It sends
 * nothing of a connection to a second backend.
 */
export const startBalancer = async () => {
  const ready = new Map<string, boolean>();
  const open = new Set<Socket>();
  let turn = 0;

  const check = async (url: string): Promise<void> => {
    const isReady = await fetch(`${url}/health/ready`, { headers: { connection: 'close' } }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready.has(url)) ready.set(url, isReady);
  };
  const timer = setInterval(() => {
    for (const url of ready.keys()) void check(url);
  }, CHECK_EVERY_MS);

  const server = createServer((client) => {
    const backends = [...ready].filter(([, isReady]) => isReady).map(([url]) => new URL(url));
    const { hostname = '', port = 0 } = backends[turn++ % backends.length] ?? {};
    const backend = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy()).on('close', () => open.delete(from));
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves once it is found ready. */
    async add(url: string): Promise<void> {
      for (ready.set(url, false); !ready.get(url); ) await check(url);
    },
    remove: (url: string) => void ready.delete(url),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
};
