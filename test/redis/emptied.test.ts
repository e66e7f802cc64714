import { expect, onTestFinished, test, vi } from 'vitest';
import { activity, deliver } from '../support/clients/deliver.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { deliveryPathOf, everythingStored, headOf, store } from '../support/gateway/on-redis.ts';
import { type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** A Redis that is emptied under running gateways, which drops no connection, leaves them one gateway. */

const start = async (redisUrl: string) => {
  const gateway = await startGateway({ UPSTREAM_URL: nowhere, AUTH: 'open', REDIS_URL: redisUrl });
  onTestFinished(() => gateway.stop());
  return gateway;
};

const readinessOf = async ({ url }: Gateway) => {
  const response = await fetch(`${url}/health/ready`);
  return { status: response.status, body: (await response.json()) as { reasons?: { part: string }[] } };
};

const linesOf = ({ logLines }: Gateway, message: string) =>
  logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith(message));

/** Posts to each gateway by the delivery URL of each. */
const statusesOf = async (gateways: readonly Gateway[]) => {
  const paths = await Promise.all(gateways.map(({ url }) => deliveryPathOf(url)));
  const posts = gateways.flatMap(({ url }) =>
    paths.map((path) => deliver(url + path, { body: activity(1) })),
  );
  return Promise.all(posts);
};

test.for([
  ['FLUSHALL', ['FLUSHALL']],
  ['the eviction of the secret', ['DEL', 'gateway:secret']],
] as const)(
  'after %s, a gateway that is started at once and those that run take the delivery URLs of each other',
  async ([, command], context) => {
    await needRedis(context);
    const redis = await startRedis();
    const [first, second] = [await start(redis.url), await start(redis.url)];
    const path = await deliveryPathOf(first.url);
    const head = await headOf(second.url);
    await redis.run(...command);
    const third = await start(redis.url);
    const all = [first, second, third];
    expect(await deliveryPathOf(third.url)).toBe(path);
    expect(await statusesOf(all)).toEqual(all.flatMap(() => [200, 200, 200]));
    for (const gateway of all) expect((await readinessOf(gateway)).status).toBe(200);

    await store(third.url, path, 7);
    expect((await everythingStored(second.url)).at(-1)).toBe(7);
    if (command[0] !== 'FLUSHALL') return;
    // The log is lost: cursors say so, and so does each gateway that had it.
    await using dashboard = subscribe(second.url, { after: head });
    await eventually(() => dashboard.faults.length > 0);
    expect(dashboard.faults[0]?.extensions).toMatchObject({ code: 'CURSOR_EXPIRED', reason: 'foreign' });
    for (const gateway of [first, second])
      await vi.waitFor(
        () => expect(linesOf(gateway, 'Redis has lost the delivery log')).toHaveLength(1),
        60_000,
      );
  },
);

test('another secret in Redis is one line of each gateway that has the first, and makes it not ready until it is put right', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const [first, second] = [await start(redis.url), await start(redis.url)];
  const secret = String(await redis.run('GET', 'gateway:secret'));
  await redis.run('SET', 'gateway:secret', 'of-another-installation-0123456789');
  for (const gateway of [first, second]) {
    await vi.waitFor(
      () => expect(linesOf(gateway, 'Redis has another delivery secret')).toHaveLength(1),
      60_000,
    );
    await vi.waitFor(async () => {
      const { status, body } = await readinessOf(gateway);
      expect([status, body.reasons?.map(({ part }) => part)]).toEqual([503, ['delivery secret']]);
    }, 60_000);
    expect(gateway.logLines.join()).not.toContain(secret);
    expect(gateway.logLines.join()).not.toContain('of-another');
  }
  await redis.run('SET', 'gateway:secret', secret);
  for (const gateway of [first, second]) {
    await vi.waitFor(async () => expect((await readinessOf(gateway)).status).toBe(200), 60_000);
    expect(linesOf(gateway, 'Redis has the delivery secret')).toHaveLength(1);
    expect(linesOf(gateway, 'Redis has another delivery secret')).toHaveLength(1);
  }
});
