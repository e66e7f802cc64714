import { expect, test } from 'vitest';
import { certificateIn } from '../support/certificate.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, store } from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { launchCluster } from '../support/redis/cluster.ts';
import { NAME, startSentinels } from '../support/redis/sentinel.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** The gateway as it is shipped, over Redis and Sentinels by TLS and over a Cluster. */

const ENV = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'unused', AUTH: 'open' };

test('rediss:// uses TLS, and refuses a certificate that is not trusted', async (context) => {
  await needRedis(context);
  await using folder = await folderOf({});
  const tls = await certificateIn(context, folder);
  const redis = await startRedis({ tls });
  await expect(spawnGateway({ ...ENV, REDIS_URL: redis.url })).rejects.toThrow(/REDIS_URL: .*self-signed/);
  await using gateway = await spawnGateway({ ...ENV, REDIS_URL: redis.url, NODE_EXTRA_CA_CERTS: tls.cert });
  const path = await deliveryPathOf(gateway.url);
  await store(gateway.url, path, 1);
  expect(await everythingStored(gateway.url)).toEqual([1]);
});

test('rediss+sentinel:// uses TLS for the Sentinels and for the primary', async (context) => {
  await needRedis(context);
  await using folder = await folderOf({});
  const tls = await certificateIn(context, folder);
  const { hosts } = await startSentinels({ primary: await startRedis({ tls }), tls });
  const env = { ...ENV, REDIS_URL: `rediss+sentinel://${hosts}/${NAME}` };
  await expect(spawnGateway(env)).rejects.toThrow(/REDIS_URL: .*no Sentinel answers: self-signed/);
  await using gateway = await spawnGateway({ ...env, NODE_EXTRA_CA_CERTS: tls.cert });
  const path = await deliveryPathOf(gateway.url);
  await store(gateway.url, path, 1);
  expect(await everythingStored(gateway.url)).toEqual([1]);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('two gateways on a Cluster are one, also when its nodes are killed and restarted under load', async (context) => {
  await needRedis(context);
  await using cluster = await launchCluster();
  const env = { ...ENV, REDIS_URL: cluster.urls.join(',') };
  await using first = await spawnGateway(env);
  // One of its nodes is enough to find the others.
  await using second = await spawnGateway({ ...ENV, REDIS_URL: cluster.urls[1] });
  const path = await deliveryPathOf(first.url);
  await store(first.url, path, 0);
  const after = await headOf(first.url);
  await using here = subscribe(first.url, { after });
  await using there = subscribe(second.url, { after });
  await store(second.url, path, 1);
  await eventually(() => here.edges.length > 0 && there.edges.length > 0);

  let next = 2;
  let isSending = true;
  const sending = (async () => {
    for (; isSending; next += 1) await store(next % 2 === 0 ? first.url : second.url, path, next);
  })();
  for (const node of cluster.nodes) {
    const enough = next + 20;
    await eventually(() => next >= enough);
    await node.crash();
    await node.restart();
  }
  const enough = next + 20;
  await eventually(() => next >= enough);
  isSending = false;
  await sending;
  const numbers = Array.from({ length: next }, (_, number) => number);
  await eventually(() => [here, there].every(({ edges }) => edges.length >= next - 1));
  expect(here.edges.map(numberOf)).toEqual(numbers.slice(1));
  expect(there.edges.map(numberOf)).toEqual(numbers.slice(1));
  expect(await everythingStored(second.url)).toEqual(numbers);
});
