import { expect } from 'vitest';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { anyRunning, type KillCase, testKills } from '../support/kills.ts';
import { failOver } from '../support/redis/failover-script.ts';
import { startForwarder } from '../support/redis/forwarder.ts';
import { NAME, startWatchedRedis } from '../support/redis/sentinel.ts';
import { needRedis, type RedisServer, startRedis } from '../support/redis/server.ts';
import { isFull, runs } from '../support/runs.ts';

/** A primary of Redis that is replaced by its replica while deliveries arrive, in each way in which that happens. */

/** Gateways in this process, over Redis alone. */
const startGateways = async (
  count: number,
  env: Record<'REDIS_URL' | 'REDIS_MIN_REPLICAS', string>,
  started: AsyncDisposableStack,
) => {
  const start = async () => started.use(await startGateway({ UPSTREAM_URL: nowhere, AUTH: 'open', ...env }));
  const gateways = await Promise.all(Array.from({ length: count }, start));
  return () => anyRunning(gateways);
};

/** Of the case with a replica that lacks deliveries: each waits for the acknowledgement of one. */
const SENDERS = 6;

/** How many deliveries the primary has that no replica is known to have. */
const unreplicatedIn = async (redis: RedisServer): Promise<number> => {
  const reply = await redis.run('HMGET', 'gateway:{default}:state', 'head', 'replicated');
  const [head, replicated] = (reply as readonly unknown[]).map(Number);
  return (head ?? 0) - (replicated ?? 0);
};

/** The script that the documentation tells to run before a primary is taken away. */
const byScript = (minReplicas: string): KillCase => ({
  name: `deploy/redis/failover, with REDIS_MIN_REPLICAS=${minReplicas}`,
  ...{ kills: 1, between: 200, senders: 8, readers: 2 },
  async start(context, started) {
    await needRedis(context);
    const { primary, replica, sentinels } = await startWatchedRedis({ count: 3 });
    const env = { REDIS_URL: sentinels.url, REDIS_MIN_REPLICAS: minReplicas };
    return {
      anyUrl: await startGateways(2, env, started),
      victims: {
        async primary() {
          const { said, code } = await failOver([sentinels.hosts, NAME]);
          expect([said, code]).toEqual([expect.stringMatching(/^failover: done: /m), 0]);
          expect(await sentinels.primaryPort()).toBe(replica.port);
        },
      },
      async finish() {
        const replication = String(await primary.run('INFO', 'replication'));
        expect(replication).toContain('role:slave');
        expect(replication).toContain(`master_port:${replica.port}`);
      },
    };
  },
});

testKills([
  {
    name: 'kill -9 of a primary whose replica lacks what was not acknowledged',
    ...{ kills: 2, between: 50, senders: SENDERS, readers: 3 },
    async start(context, started) {
      await needRedis(context);
      let [primary, replica] = [await startRedis(), await startRedis()];
      const [name, replication] = [await startForwarder(primary), await startForwarder(primary)];
      await replica.run('REPLICAOF', '127.0.0.1', String(replication.port));
      return {
        anyUrl: await startGateways(3, { REDIS_URL: name.url, REDIS_MIN_REPLICAS: '1' }, started),
        victims: {
          async primary(traffic) {
            // What follows is stored by the primary alone: it is neither acknowledged nor shown.
            replication.cut();
            const lost = traffic.another();
            await expect.poll(() => unreplicatedIn(primary)).toBeGreaterThanOrEqual(SENDERS);
            expect(traffic.acknowledged()).not.toContain(lost);
            await primary.crash();
            await replica.run('REPLICAOF', 'NO', 'ONE');
            name.lead(replica);
            await primary.restart();
            replication.lead(replica);
            await primary.run('REPLICAOF', '127.0.0.1', String(replication.port));
            [primary, replica] = [replica, primary];
          },
        },
      };
    },
  },
  {
    name: 'kill -9 of a primary whose replica three Sentinels promote',
    ...{ kills: runs(4, 1), between: 50, senders: 4, readers: 2 },
    async start(context, started) {
      await needRedis(context);
      const { sentinels, ...servers } = await startWatchedRedis({ count: 3 });
      let { primary, replica } = servers;
      let failovers = 0;
      return {
        anyUrl: await startGateways(2, { REDIS_URL: sentinels.url, REDIS_MIN_REPLICAS: '1' }, started),
        victims: {
          async primary() {
            await sentinels.ready(replica);
            // Every other time they are asked for it.
            if (failovers++ % 2 === 0) await primary.crash();
            else await sentinels.run('SENTINEL', 'FAILOVER', NAME);
            await expect.poll(() => sentinels.primaryPort()).toBe(replica.port);
            await primary.crash();
            // Until it has a replica of its own, it acknowledges nothing.
            primary = replica;
            replica = await startRedis({ of: primary });
          },
        },
      };
    },
  },
  ...(isFull ? ['0', '1'] : ['0']).map(byScript),
]);
