import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { byEventStream, byWebSocket, startLoadClient } from '../support/clients/load-client.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { nowhere } from '../support/gateway/start.ts';

const CLIENTS = 200;
const EVENT_STREAMS = 10;
const CUTS = 20;
const DELIVERIES = 10_000;
const IN_FLIGHT = 64;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** mulberry32: pseudo-random numbers from 0 to 1, the same for the same seed. */
const createRandom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

const ask = async <Data>(url: string, query: string, variables: object = {}): Promise<Data> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return ((await response.json()) as { data: Data }).data;
};

/** Posts each number until it is answered 2xx, as the service does. */
const postAll = async (deliveryUrl: string, onPosted: (posted: number) => void): Promise<void> => {
  const { origin, pathname } = new URL(deliveryUrl);
  const pool = new Pool(origin, { connections: IN_FLIGHT });
  let next = 0;
  let posted = 0;
  const post = async (number: number): Promise<void> => {
    for (;;) {
      try {
        const { statusCode, body } = await pool.request({
          path: pathname,
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
    while (next < DELIVERIES) {
      await post(next++);
      onPosted(++posted);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  await pool.close();
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
    const { deliveries } = await ask<Page>(url, PAGE, { after });
    edges.push(...deliveries.edges);
    if (!deliveries.pageInfo.hasNextPage) return edges;
    after = deliveries.pageInfo.endCursor;
  }
};

test('200 clients that are disconnected 20 times each, over a restart, get all of 10,000 deliveries once and in order', async () => {
  const seed = Number(process.env.STORM_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = createRandom(seed);
  await using made = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-storm-'));
  made.defer(() => rm(dataDir, { recursive: true, force: true }));
  const env = {
    UPSTREAM_URL: nowhere,
    UPSTREAM_API_KEY: 'held',
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
  };
  const first = made.use(await spawnGateway(env));
  const { url } = first;
  const { deliveryUrl, deliveries } = await ask<{ deliveryUrl: string; deliveries: { head: string } }>(
    url,
    '{ deliveryUrl deliveries { head } }',
  );

  /** The events of the client that is furthest ahead; all others must get the same. */
  const order: string[] = [];
  const wrong: string[] = [];
  const clients = Array.from({ length: CLIENTS }, (_, number) => {
    const cuts = new Set<number>();
    while (cuts.size < CUTS) cuts.add(1 + Math.floor(random() * (DELIVERIES - 1)));
    return startLoadClient({
      url,
      transport: number < EVENT_STREAMS ? byEventStream : byWebSocket,
      after: deliveries.head,
      cuts: [...cuts].sort((one, other) => one - other),
      onCursor(index, cursor) {
        order[index] ??= cursor;
        if (order[index] !== cursor) wrong.push(`client ${number}, delivery ${index}: ${cursor}`);
      },
    });
  });
  made.defer(() => {
    for (const { stop } of clients) stop();
  });

  const half = Promise.withResolvers<void>();
  const posting = postAll(deliveryUrl, (posted) => posted === DELIVERIES / 2 && half.resolve());
  await half.promise;
  expect(await first.end('SIGTERM')).toBe(0);
  const second = made.use(await spawnGateway(env));
  expect(second.url).toBe(url);
  await posting;
  const received = () => clients.reduce((sum, client) => sum + client.received, 0);
  for (let before = -1; before < received() && received() < CLIENTS * DELIVERIES; ) {
    before = received();
    await eventually(
      () => received() > before || received() >= CLIENTS * DELIVERIES,
      () => ({ seed, before }),
    );
  }

  const log = await readLog(url, deliveries.head);
  expect(wrong.slice(0, 5), `seed ${seed}`).toEqual([]);
  expect(order, `seed ${seed}`).toEqual(log.map(({ cursor }) => cursor));
  expect(clients.map((client) => client.received)).toEqual(clients.map(() => DELIVERIES));
  expect(clients.every(({ connections }) => connections > CUTS)).toBe(true);
  expect(new Set(log.map(({ node }) => node.payload.number)).size).toBe(DELIVERIES);
});
