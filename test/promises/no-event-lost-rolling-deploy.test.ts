import { join } from 'node:path';
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { freePort } from '../support/free-port.ts';
import { needHaproxy, startHaproxy } from '../support/gateway/haproxy.ts';
import { deliveryPathOf, everythingStored, post, store } from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { testKills } from '../support/kills.ts';
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

testKills([
  {
    name: 'one gateway after another is restarted behind HAProxy, and no request fails',
    ...{ kills: 2, between: 100, senders: 4, readers: 2 },
    async start(context, started) {
      const { gateways, ports, spawn, proxy, url } = await startDeployment(context);
      const lookups = new Set<number | string>();
      let underLoad = true;
      const clients = Array.from({ length: 4 }, async () => {
        for (; underLoad; await sleep(20)) lookups.add(await lookUp(url));
      });
      started.defer(() => {
        underLoad = false;
      });
      const left = gateways.entries();
      return {
        anyUrl: async () => url,
        victims: {
          async gateway() {
            const [index, gateway] = left.next().value ?? expect.fail('both have been restarted');
            expect(await gateway.end('SIGTERM')).toBe(0);
            await spawn(ports[index] ?? 0);
            await proxy.isReady(index + 1);
          },
        },
        async finish(traffic) {
          underLoad = false;
          await Promise.all(clients);
          expect([...lookups]).toEqual([200]);
          // On a busy disk Redis may take longer than a gateway waits; then the service repeats the delivery.
          expect([...traffic.statuses()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
        },
      };
    },
  },
]);

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
