import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A port that leads to a Redis, and after a failover to another one, as a name that is resolved for each connection. */
export const startForwarder = async (to: { readonly port: number }) => {
  let target: { readonly port: number } | null = to;
  let delayMs = 0;
  let left = Number.POSITIVE_INFINITY;
  let held = () => {};
  /** Whether so many bytes more may pass. What comes after the first that may not is lost. */
  const isLetThrough = ({ length }: { readonly length: number }): boolean => {
    left = length > left ? 0 : left - length;
    if (left === 0) held();
    return left > 0;
  };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => {}).on('close', () => open.delete(client));
    if (target === null) return client.destroy();
    const redis = connect(target.port, '127.0.0.1');
    client.on('data', (chunk) => {
      if (!isLetThrough(chunk)) return;
      if (delayMs === 0) redis.write(chunk);
      else setTimeout(() => redis.write(chunk), delayMs);
    });
    redis.on('data', (chunk) => isLetThrough(chunk) && client.write(chunk));
    client.on('close', () => redis.destroy());
    redis.on('error', () => {}).on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    for (const client of open) client.destroy();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    /** Connections that are opened from now on go there. */
    lead(next: { readonly port: number }): void {
      target = next;
      left = Number.POSITIVE_INFINITY;
    },
    /** Lets about as many bytes more through, of both sides. Resolves once it passes nothing on, until it leads somewhere again. */
    hold(bytes: number): Promise<void> {
      left = bytes;
      return new Promise((resolve) => {
        held = resolve;
      });
    },
    /** What clients send from now on arrives so much later. Call it while nothing is on its way. */
    delay(ms: number): void {
      delayMs = ms;
    },
    /** Ends all connections, and takes none until it leads somewhere again. */
    cut(): void {
      target = null;
      for (const client of open) client.destroy();
    },
  };
};
