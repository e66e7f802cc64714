import { expect, test } from 'vitest';
import { transactions } from '../../src/lookups/transactions.ts';
import { activity, deliver } from '../support/clients/deliver.ts';
import { keysOf, pageAt } from '../support/clients/walk.ts';
import { deliveryPathOf } from '../support/gateway/on-redis.ts';
import type { Gateway } from '../support/gateway/start.ts';
import { sampleItems } from '../support/lookups/samples.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { hasRun, startOnRedis, startTwo } from '../support/redis/sharing-gateways.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import type { Answer } from '../support/upstream/fake-service.ts';
import { serving } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Gateways that share pages share those with failures for a second, and keep a whole one beside them. */

const errors = { error_message: 'Some could not be read' };

/** So many items, and an error beside them. */
const failing =
  (length: number): Answer =>
  async (request) => {
    const reply = await serving(transactions, sampleItems(transactions, length))(request);
    return { ...reply, json: { ...Object(reply.json), errors } };
  };

const whole = (length: number): Answer => serving(transactions, sampleItems(transactions, length));

const seenBy = async (gateway: Gateway, address: string) =>
  keysOf([await pageAt(gateway, transactions.name, address, 5)]).length;

test('a page with failures is fetched once for all that wait for it, and by each of them again after a second', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using gateways = await startTwo(redis.url);
  const { fake, first, second } = gateways;
  const address = freshAddress();
  const gate = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    await gate.promise;
    return failing(1)(request);
  });
  const cold = [first, second].map((gateway) => seenBy(gateway, address));
  await hasRun(first, 'find');
  await hasRun(second, 'find');
  gate.resolve();
  expect(await Promise.all(cold)).toEqual([1, 1]);
  expect(fake.requestsFor(address)).toHaveLength(1);

  fake.transactions.set(address, whole(3));
  for (const gateway of [second, first]) await expect.poll(() => seenBy(gateway, address)).toBe(3);
  // The whole page is one for both, and stays.
  expect(fake.requestsFor(address)).toHaveLength(2);
});

test('a whole page that another gateway has fetched stands in for one that fails, although one with failures came after it', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using first = await startOnRedis(fake, redis.url);
  const address = freshAddress();
  fake.transactions.set(address, whole(3));
  expect(await seenBy(first, address)).toBe(3);
  await hasRun(first, 'store');
  fake.transactions.set(address, failing(1));
  expect(await deliver(first.url + (await deliveryPathOf(first.url)), { body: activity(1, address) })).toBe(
    200,
  );
  // What there is now, and not what there was: the service answers.
  await expect.poll(() => seenBy(first, address)).toBe(1);
  await hasRun(first, 'store', 2);

  fake.transactions.set(address, () => ({ status: 500 }));
  await using second = await startOnRedis(fake, redis.url);
  for (const gateway of [second, first]) await expect.poll(() => seenBy(gateway, address)).toBe(3);
  fake.transactions.set(address, whole(4));
  for (const gateway of [second, first]) await expect.poll(() => seenBy(gateway, address)).toBe(4);
});

test('without a whole page, one with failures stands in', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using first = await startOnRedis(fake, redis.url);
  const address = freshAddress();
  fake.transactions.set(address, failing(2));
  expect(await seenBy(first, address)).toBe(2);
  await hasRun(first, 'store');
  fake.transactions.set(address, () => ({ status: 500 }));
  await using second = await startOnRedis(fake, redis.url);
  const asked = fake.requestsFor(address).length;
  await expect
    .poll(async () => {
      expect(await seenBy(second, address)).toBe(2);
      return fake.requestsFor(address).length;
    })
    .toBeGreaterThan(asked);
  expect(await seenBy(second, address)).toBe(2);
});
