import { expect, test } from 'vitest';
import { certificateIn } from '../support/certificate.ts';
import { folderOf } from '../support/folder.ts';
import { deliveryPathOf, everythingStored, store } from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { NAME, startSentinels } from '../support/redis/sentinel.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** The gateway as it is shipped, over Redis and Sentinels by TLS. */

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
