import { expect, onTestFinished, test } from 'vitest';
import { Replication } from '../../../src/deliveries/redis/replication.ts';
import { APPENDING_CHANNEL, CHANNEL, Store } from '../../../src/deliveries/redis/store.ts';
import { connectRedis } from '../../../src/redis/connection.ts';
import { PATIENT_TIMES } from '../../support/redis/patience.ts';
import { needRedis, startRedis } from '../../support/redis/server.ts';

/** Which tenants a gateway waits for replicas of. */

/** `waitedFor` has each wait for replicas, in its order. Replicas never have anything of the `missing` tenants. */
const listen = async (missing: readonly string[] = []) => {
  const redis = await connectRedis({ urls: [(await startRedis()).url], times: PATIENT_TIMES });
  onTestFinished(() => redis.close());
  const store = new Store({ redis, writer: redis, minReplicas: 1, waitMs: 1000 });
  const replication = await Replication.listen(redis, store);
  onTestFinished(() => replication.stop());
  const waitedFor: string[] = [];
  replication.start(async (tenant) => {
    waitedFor.push(tenant);
    if (missing.includes(tenant)) throw new Error('no replica has it');
  });
  return {
    waitedFor,
    publish: (channel: string, head: number, tenant: string) =>
      redis.send(null, ['PUBLISH', channel, `${head} ${tenant}`]),
  };
};

const GENEROUSLY = { timeout: 60_000 };

test('what replicas have by the word of another gateway is not looked at again', async (context) => {
  await needRedis(context);
  const { waitedFor, publish } = await listen();
  await publish(APPENDING_CHANNEL, 1, 'has all');
  await publish(APPENDING_CHANNEL, 2, 'has the first');
  await publish(CHANNEL, 1, 'has all');
  await publish(CHANNEL, 1, 'has the first');
  await publish(APPENDING_CHANNEL, 1, 'has none');
  await expect.poll(() => waitedFor, GENEROUSLY).toContain('has none');
  expect(waitedFor).toEqual(['has the first', 'has none']);
});

test('tenants whose replicas are missing come after all others', async (context) => {
  await needRedis(context);
  const missing = ['missing 1', 'missing 2', 'missing 3'];
  const { waitedFor, publish } = await listen(missing);
  for (const tenant of missing) await publish(APPENDING_CHANNEL, 1, tenant);
  await expect.poll(() => new Set(waitedFor), GENEROUSLY).toEqual(new Set(missing));

  const before = waitedFor.length;
  await publish(APPENDING_CHANNEL, 1, 'another');
  await expect.poll(() => waitedFor, GENEROUSLY).toContain('another');
  // A look that had begun may have gone on to one of the missing.
  expect(waitedFor.indexOf('another') - before).toBeLessThanOrEqual(1);
  // All of the missing have their turns.
  await expect.poll(() => new Set(waitedFor.slice(before)).size, GENEROUSLY).toBe(4);
});
