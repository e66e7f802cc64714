import { expect, type TestContext } from 'vitest';
import { openLog, readAll, temporaryDirectory } from '../deliveries/support/builders.ts';
import { sleep } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { runLogCommand } from '../support/gateway/log-command.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { superviseGateway } from '../support/gateway/supervise.ts';
import { spawnWorkers } from '../support/gateway/workers.ts';
import { anyOf, anyRunning, DELIVERIES_ONLY, testKills } from '../support/kills.ts';
import { launchCluster } from '../support/redis/cluster.ts';
import { launchRedis, needRedis, type RedisServer } from '../support/redis/server.ts';
import { isFull, runs } from '../support/runs.ts';

/** What is killed or replaced while deliveries arrive, each with what is left of it: no event is lost, none is shown twice. */

const startRedis = async (context: TestContext, started: AsyncDisposableStack): Promise<RedisServer> => {
  await needRedis(context);
  return started.adopt(await launchRedis(), (redis) => redis.stop());
};

testKills([
  {
    name: 'kill -9 of a gateway that has its log in a folder',
    ...{ kills: runs(12), between: 60, senders: 8, readers: 2 },
    async start(_, started) {
      const dataDir = await temporaryDirectory();
      const env = { ...DELIVERIES_ONLY, DATA_DIR: dataDir };
      const gateway = started.use(await superviseGateway(env));
      // No other process uses the folder until this one is killed.
      const refused = `exited with 1: .*${dataDir}/deliveries.lock: the delivery log is in use by another process`;
      await expect(spawnGateway(env)).rejects.toThrow(new RegExp(refused, 's'));
      return {
        anyUrl: () => anyRunning([gateway]),
        victims: { gateway: gateway.killAndRestart },
        async finish(traffic) {
          await gateway.kill();
          const log = await openLog({ dataDir, retentionHours: 1 });
          const sequences = (await readAll(log)).map(({ sequence }) => sequence);
          expect(sequences).toEqual(Array.from(traffic.acknowledged(), (_, index) => index + 1));
        },
      };
    },
  },
  {
    name: 'kill -9 of the workers of a gateway',
    ...{ kills: runs(15), between: 20, senders: 8, readers: 3 },
    async start(context, started) {
      const redis = await startRedis(context, started);
      const gateway = started.use(await spawnWorkers(redis.url));
      let kills = 0;
      return {
        anyUrl: async () => gateway.url,
        victims: {
          async worker(traffic) {
            kills += 1;
            process.kill(anyOf(await gateway.pids()), 'SIGKILL');
            await eventually(() => gateway.said('worker ended').length === kills);
            // One is left, and serves.
            await traffic.more(1);
            await gateway.restarted(kills);
          },
        },
        finish: async () => expect(await gateway.end('SIGTERM')).toBe(0),
      };
    },
  },
  {
    name: 'kill -9 of three gateways and of their Redis',
    ...{ kills: runs(12, 4), between: isFull ? 150 : 60, senders: 12, readers: 3 },
    async start(context, started) {
      const redis = await startRedis(context, started);
      const start = () => superviseGateway({ ...DELIVERIES_ONLY, REDIS_URL: redis.url });
      const gateways = await Promise.all([1, 2, 3].map(async () => started.use(await start())));
      return {
        anyUrl: () => anyRunning(gateways),
        victims: {
          async redis() {
            await redis.crash();
            await sleep(100 * Math.random());
            await redis.restart();
          },
          ...Object.fromEntries(
            gateways.map(({ killAndRestart }, index) => [`gateway ${index + 1}`, killAndRestart]),
          ),
        },
      };
    },
  },
  {
    name: 'kill -9 of each node of a Cluster of Redis',
    ...{ kills: 3, between: 40, senders: 2, readers: 2 },
    async start(context, started) {
      await needRedis(context);
      const cluster = started.use(await launchCluster());
      const start = async (urls: readonly string[]) =>
        started.use(await spawnGateway({ ...DELIVERIES_ONLY, REDIS_URL: urls.join(',') }));
      // One of its nodes is enough to find the others.
      const gateways = [await start(cluster.urls), await start(cluster.urls.slice(1, 2))];
      const left = cluster.nodes.values();
      return {
        anyUrl: () => anyRunning(gateways),
        victims: {
          async node() {
            const node = left.next().value ?? anyOf(cluster.nodes);
            await node.crash();
            await node.restart();
          },
        },
      };
    },
  },
  {
    name: 'a log that moves from a folder to Redis and to another folder',
    ...{ kills: 2, between: 60, senders: 4, readers: 2 },
    async start(context, started) {
      const redis = await startRedis(context, started);
      const folder = started.use(await folderOf({}));
      const [first, second] = [folder.path('first'), folder.path('second')];
      const PORT = String(await freePort());
      // Its secrets are made at the first start, and move with the log.
      const startOn = async (place: Record<string, string>) =>
        started.use(await spawnGateway({ ...DELIVERIES_ONLY, PORT, ...place }));
      let place: Record<string, string> = { DATA_DIR: first };
      let gateway = await startOn(place);
      const left = [{ REDIS_URL: redis.url }, { DATA_DIR: second }];
      return {
        anyUrl: async () => `http://127.0.0.1:${PORT}`,
        victims: {
          async log() {
            const next: Record<string, string> = left.shift() ?? {};
            const [from = '', to = ''] = [place, next].flatMap((one) => Object.values(one));
            expect(await gateway.end('SIGTERM')).toBe(0);
            const stdout = expect.stringMatching(/^Copied \d+ deliveries /);
            expect(await runLogCommand(['copy', from, to])).toMatchObject({ code: 0, stdout });
            // No gateway starts on the place that it has left.
            await expect(startOn(place)).rejects.toThrow(`this log was copied to ${to}`);
            place = next;
            gateway = await startOn(place);
          },
        },
      };
    },
  },
]);
