import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { deliveriesOf } from '../support/clients/deliver.ts';
import { clientOf } from '../support/clients/graphql-client.ts';
import { byEventStream, byWebSocket, startLoadClient } from '../support/clients/load-client.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { nowhere } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { runs } from '../support/runs.ts';

const IN_FLIGHT = 64;

/** Of this number of clients one reads by an event stream, the others by WebSocket. */
const EVENT_STREAMS = 20;

type Storm = {
  /** The settings of each gateway. They have one log. */
  readonly gateways: readonly Record<string, string>[];
  readonly clients: number;
  /** How often each client is disconnected. */
  readonly cuts: number;
  readonly deliveries: number;
};

/** mulberry32: pseudo-random numbers from 0 to 1, the same for the same seed. */
const createRandom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

/** Posts each number until it is answered 2xx, as the service does, and each time to another gateway. */
const postAll = async (
  { urls, path, count }: { urls: readonly string[]; path: string; count: number },
  onPosted: (posted: number) => void,
): Promise<void> => {
  const agent = new Agent({ connections: IN_FLIGHT });
  let next = 0;
  let posted = 0;
  let turn = 0;
  const post = async (number: number): Promise<void> => {
    for (;;) {
      turn += 1;
      try {
        const { statusCode, body } = await agent.request({
          origin: urls[turn % urls.length] ?? '',
          path,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: `{"number":${number}}`,
        });
        await body.dump();
        if (statusCode === 200) return;
      } catch {
        // The gateway is down.
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const sender = async () => {
    while (next < count) {
      await post(next++);
      onPosted(++posted);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  await agent.close();
};

type Page = {
  deliveries: {
    edges: { cursor: string; node: { payload: { number: number } } }[];
    pageInfo: { endCursor: string; hasNextPage: boolean };
  };
};

const PAGE = `query ($after: String) {
  deliveries(first: 1000, after: $after) { edges { cursor node { payload } } pageInfo { endCursor hasNextPage } }
}`;

const readLog = async (url: string, start: string) => {
  const edges: Page['deliveries']['edges'] = [];
  for (let after = start; ; ) {
    const { deliveries } = await clientOf(url).data<Page>(PAGE, { after });
    edges.push(...deliveries.edges);
    if (!deliveries.pageInfo.hasNextPage) return edges;
    after = deliveries.pageInfo.endCursor;
  }
};

/** Enough to be cut 20 times among them, and stopped. */
const manyOf = (all: number): number => Math.max(500, runs(all));

const runStorm = async ({ gateways, clients: count, cuts: cutsEach, deliveries: total }: Storm) => {
  const seed = Number(process.env.STORM_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = createRandom(seed);
  await using started = new AsyncDisposableStack();
  const start = async (env: Record<string, string>) => started.use(await spawnGateway(env));
  const envs = await Promise.all(
    gateways.map(async (env) => ({
      ...{ UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: 'held', PORT: String(await freePort()) },
      ...env,
    })),
  );
  const running = await Promise.all(envs.map(start));
  const urls = running.map(({ url }) => url);
  const [url = ''] = urls;
  const { deliveryUrl, head } = await deliveriesOf(url);

  /** The events of the client that is furthest ahead; all others must get the same. */
  const order: string[] = [];
  const wrong: string[] = [];
  const clients = Array.from({ length: count }, (_, number) => {
    const cuts = new Set<number>();
    while (cuts.size < cutsEach) cuts.add(1 + Math.floor(random() * (total - 1)));
    return startLoadClient({
      url: () => urls[Math.floor(random() * urls.length)] ?? '',
      transport: number % EVENT_STREAMS === 0 ? byEventStream : byWebSocket,
      after: head,
      cuts: [...cuts].sort((one, other) => one - other),
      onCursor(index, cursor) {
        order[index] ??= cursor;
        if (order[index] !== cursor) wrong.push(`client ${number}, delivery ${index}: ${cursor}`);
      },
    });
  });
  started.defer(() => {
    for (const { stop } of clients) stop();
  });

  const half = Promise.withResolvers<void>();
  const path = new URL(deliveryUrl).pathname;
  const posting = postAll(
    { urls, path, count: total },
    (posted) => posted === Math.floor(total / 2) && half.resolve(),
  );
  await half.promise;
  expect(await running[0]?.end('SIGTERM')).toBe(0);
  const again = await start(envs[0] ?? {});
  expect(again.url).toBe(url);
  await posting;
  const received = () => clients.reduce((sum, client) => sum + client.received, 0);
  for (let before = -1; before < received() && received() < count * total; ) {
    before = received();
    await eventually(
      () => received() > before || received() >= count * total,
      () => ({ seed, before }),
    );
  }

  const log = await readLog(url, head);
  expect(wrong.slice(0, 5), `seed ${seed}`).toEqual([]);
  expect(order, `seed ${seed}`).toEqual(log.map(({ cursor }) => cursor));
  expect(clients.map((client) => client.received)).toEqual(clients.map(() => total));
  expect(clients.every(({ connections }) => connections > cutsEach)).toBe(true);
  expect(new Set(log.map(({ node }) => node.payload.number)).size).toBe(total);
};

test('clients that are disconnected 20 times each, over a restart, get all of many deliveries once and in order', async () => {
  await using folder = await folderOf({});
  const gateways = [{ DATA_DIR: folder.path('log') }];
  await runStorm({ gateways, clients: runs(200, 60), cuts: 20, deliveries: manyOf(5000) });
});

test('on three gateways over one Redis, clients that reconnect at any of them get all once and in order', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const gateways = Array.from({ length: 3 }, () => ({ REDIS_URL: redis.url }));
  await runStorm({ gateways, clients: runs(60, 30), cuts: 20, deliveries: manyOf(2000) });
});
