import { expect, vi } from 'vitest';
import { connectRedis } from '../../../src/redis/connection.ts';
import { PATIENT_TIMES } from './patience.ts';
import { launchRedis } from './server.ts';

const NODES = 3;
const SLOTS = 16_384;

/** A Cluster of three primaries. */
export const launchCluster = async () => {
  const nodes = await Promise.all(
    Array.from({ length: NODES }, () =>
      launchRedis({ settings: ['--cluster-enabled', 'yes', '--cluster-node-timeout', '10000'] }),
    ),
  );
  const [first, ...others] = nodes;
  await Promise.all(
    nodes.map(async (node, index) => {
      const [from, to] = [index, index + 1].map((at) => Math.floor((at * SLOTS) / NODES));
      await node.run('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? SLOTS) - 1));
    }),
  );
  // Two nodes never choose the same configuration epoch on purpose.
  await Promise.all(nodes.map((node, index) => node.run('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))));
  // A node forgets another one that does not answer within the node timeout, so each is named until it is known.
  await vi.waitFor(
    async () => {
      for (const { port } of others) await first?.run('CLUSTER', 'MEET', '127.0.0.1', String(port));
      for (const node of nodes)
        expect(String(await node.run('CLUSTER', 'INFO'))).toContain('cluster_state:ok');
    },
    { timeout: 200_000, interval: 200 },
  );
  const urls = nodes.map(({ url }) => url);
  return {
    urls,
    nodes,
    async empty(): Promise<void> {
      const redis = await connectRedis({ urls, times: PATIENT_TIMES });
      await redis.sendToPrimaries(['FLUSHALL']);
      redis.close();
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
};
