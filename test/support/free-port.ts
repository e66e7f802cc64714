import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to connections and to servers that ask for any: one of those could take
 * the port of a server that is down for a moment. A Redis Cluster's node also listens 10,000 above its port.
 */
const [FIRST_PORT, PORTS_PER_WORKER, RANGES] = [12_000, 1250, 8];

const firstPort = FIRST_PORT + PORTS_PER_WORKER * (Number(process.env.VITEST_POOL_ID ?? 0) % RANGES);
let next = Math.floor(Math.random() * PORTS_PER_WORKER);

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!listens) return false;
  server.close();
  await once(server, 'close');
  return true;
};

/** A port of 127.0.0.1 that stays free for its server while that is down: no other test that runs is given it. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = firstPort + (next++ % PORTS_PER_WORKER);
    if (await isFree(port)) return port;
  }
};
