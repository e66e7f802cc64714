import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { expect, onTestFinished, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { type RedisServer, removeFolder, startRedis, startRedisProcess } from './server.ts';

export const NAME = 'the-log';

type Options = {
  readonly primary: Pick<RedisServer, 'port'>;
  /** Default: 1, which decides alone. */
  readonly count?: number;
  /** Further lines of their configuration. */
  readonly settings?: readonly string[];
  /** The password that they want of their own clients. */
  readonly password?: string;
  /** Paths of the certificate that they and the primary have, and of its key: then they use only TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
};

/** Real Sentinels that watch a primary, and find it down after a second. They go when the test is finished. */
export const startSentinels = async ({ primary, count = 1, settings = [], password, tls }: Options) => {
  const quorum = Math.floor(count / 2) + 1;
  const start = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sentinel-test-'));
    const port = await freePort();
    const file = join(folder, 'sentinel.conf');
    // It writes what it learns into its configuration.
    await writeFile(
      file,
      [
        ...['bind 127.0.0.1', `dir ${folder}`],
        ...(tls === undefined ? [`port ${port}`] : tlsLines(port, tls)),
        ...(password === undefined ? [] : [`requirepass ${password}`]),
        `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} ${quorum}`,
        `sentinel down-after-milliseconds ${NAME} 1000`,
        `sentinel failover-timeout ${NAME} 6000`,
        ...settings,
        '',
      ].join('\n'),
    );
    const child = await startRedisProcess([file, '--sentinel'], '+monitor master');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await removeFolder(folder);
    });
    return port;
  };
  const ports = await Promise.all(Array.from({ length: count }, start));
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const run = async (...command: string[]): Promise<unknown> => {
    const url = `redis://127.0.0.1:${ports[0]}`;
    const client = await createClient({ url, ...(password !== undefined && { password }) }).connect();
    try {
      return await client.sendCommand(command);
    } finally {
      client.destroy();
    }
  };
  return {
    hosts,
    url: `redis+sentinel://${hosts}/${NAME}`,
    run,
    /** Waits until they could promote the replica. They look at a new one within ten seconds. */
    ready: ({ port }: Pick<RedisServer, 'port'>) =>
      vi.waitFor(
        async () => {
          expect(String(await run('SENTINEL', 'CKQUORUM', NAME))).toContain(`OK ${count} usable`);
          const replicas = (await run('SENTINEL', 'REPLICAS', NAME)) as readonly Record<string, string>[];
          const found = replicas.find((fields) => fields.port === String(port));
          expect(found?.['master-link-status']).toBe('ok');
        },
        { timeout: 120_000, interval: 100 },
      ),
    primaryPort: async (): Promise<number> => {
      const [, port] = (await run('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as readonly string[];
      return Number(port);
    },
  };
};

const tlsLines = (port: number, { cert, key }: NonNullable<Options['tls']>): string[] => [
  ...['port 0', `tls-port ${port}`, 'tls-auth-clients no', 'tls-replication yes'],
  ...[`tls-cert-file ${cert}`, `tls-key-file ${key}`, `tls-ca-cert-file ${cert}`],
];

/** A primary and its replica, with Sentinels that can promote it. */
export const startWatchedRedis = async (options: Omit<Options, 'primary'> = {}) => {
  const primary = await startRedis();
  const replica = await startRedis({ of: primary });
  // Otherwise the Sentinels learn only ten seconds later that it is linked.
  await primary.run('WAIT', '1', '0');
  const sentinels = await startSentinels({ ...options, primary });
  await sentinels.ready(replica);
  return { primary, replica, sentinels };
};
