import { join } from 'node:path';
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { freePort } from '../support/free-port.ts';
import { needHaproxy, startHaproxy } from '../support/gateway/haproxy.ts';
import {
  deliveryPathOf,
  everythingStored,
  headOf,
  numberOf,
  post,
  store,
} from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { root } from '../support/pages.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A deploy as docs/deploying.md describes it: two shipped gateways on Redis behind HAProxy, with the files of deploy/. */

const startDeployment = async (context: TestContext) => {
  await needRedis(context);
  await needHaproxy(context);
  const log = await startRedis({ config: join(root, 'deploy/redis/redis-log.conf') });
  const pages = await startRedis({ config: join(root, 'deploy/redis/redis-pages.conf') });
  const fake = await startFakeWallets();
  onTestFinished(() => fake[Symbol.asyncDispose]());
  const spawn = async (port: number) => {
    const gateway = await spawnGateway({
      UPSTREAM_URL: fake.url,
      UPSTREAM_API_KEY: 'unused',
      AUTH: 'open',
      REDIS_URL: log.url,
      REDIS_CACHE_URL: pages.url,
      PORT: String(port),
    });
    onTestFinished(() => void gateway.end('SIGKILL'));
    return gateway;
  };
  const ports = [await freePort(), await freePort()] as const;
  const gateways = await Promise.all(ports.map(spawn));
  const proxy = await startHaproxy(ports);
  for (const gateway of [1, 2]) await proxy.isReady(gateway);
  return { log, gateways, ports, spawn, proxy, url: proxy.url };
};

/** The status of a lookup of a wallet, or what failed. */
const lookUp = async (url: string): Promise<number | string> => {
  const query = `{ wallet(address: "${freshAddress()}") { transactions(first: 1) { nodes { hash } } } }`;
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
    .then(async (response) => ((await response.text()).includes('"errors"') ? 'errors' : response.status))
    .catch(({ cause }: Error) => String(cause));
};

test('one gateway after another is restarted under load: no request fails, and no event is lost', async (context) => {
  const { gateways, ports, spawn, proxy, url } = await startDeployment(context);
  const path = await deliveryPathOf(url);
  const head = await headOf(url);
  const seen: number[] = [];
  let isReading = true;
  const read = async () => {
    for (let after = head; isReading; await sleep(20)) {
      await using dashboard = subscribe(url, { after });
      await Promise.race([dashboard.ended, eventually(() => !isReading)]);
      after = dashboard.edges.at(-1)?.cursor ?? after;
      seen.push(...dashboard.edges.map(numberOf));
      expect(dashboard.faults).toEqual([]);
    }
  };
  const reader = read();

  const lookups = new Set<number | string>();
  const deliveries = new Set<number | null>();
  const acknowledged: number[] = [];
  let underLoad = true;
  let next = 0;
  const senders = Array.from({ length: 4 }, async () => {
    while (underLoad) {
      const number = next;
      next += 1;
      const status = await post(url, path, number);
      if (status === 200) acknowledged.push(number);
      deliveries.add(status);
      await sleep(20);
    }
  });
  const clients = Array.from({ length: 4 }, async () => {
    while (underLoad) {
      lookups.add(await lookUp(url));
      await sleep(20);
    }
  });

  for (const [index, gateway] of gateways.entries()) {
    await sleep(500);
    expect(await gateway.end('SIGTERM')).toBe(0);
    await spawn(ports[index] ?? 0);
    await proxy.isReady(index + 1);
  }
  underLoad = false;
  await Promise.all([...senders, ...clients]);
  expect([...lookups]).toEqual([200]);
  // On a busy disk Redis may take longer than a gateway waits; then the service repeats the delivery.
  expect([...deliveries].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const stored = await everythingStored(url);
  expect(acknowledged.length).toBeGreaterThan(100);
  expect(acknowledged.filter((number) => !stored.includes(number))).toEqual([]);
  expect(new Set(stored).size).toBe(stored.length);
  await store(url, path, next);
  isReading = false;
  await reader;
  expect(seen.slice(0, stored.length)).toEqual(stored);
});

test('while Redis is lost the proxy sends lookups on; it never shows metrics or health', async (context) => {
  const { log, url } = await startDeployment(context);
  const path = await deliveryPathOf(url);
  await store(url, path, 0);
  for (const hidden of ['/metrics', '/health/live', '/health/ready'])
    expect((await fetch(url + hidden)).status, hidden).toBe(404);
  await log.crash();
  await vi.waitFor(async () => expect(await post(url, path, 1)).toBe(503), 60_000);
  for (let times = 0; times < 10; times += 1) {
    expect(await lookUp(url)).toBe(200);
    await sleep(100);
  }
  await log.restart();
  await store(url, path, 1);
  expect(await everythingStored(url)).toEqual([0, 1]);
});
