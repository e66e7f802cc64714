import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDirectory } from '../deliveries/support/builders.ts';
import { deliveryPathOf, everythingStored, store } from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { heldKey, nowhere, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** A gateway whose clock is wrong deletes nothing that is not due. Retention keeps a week, and five deliveries. */

const EIGHT_DAYS_MS = 8 * 24 * 3_600_000;

const ENV = { UPSTREAM_URL: nowhere, AUTH: 'open', DELIVERY_RETENTION_COUNT: '5' };

/** A gateway of its own process, on a machine whose clock is ahead by this time. */
const startAhead = async (env: Record<string, string>, aheadMs: number) => {
  const shift = `Date.now=(now=>()=>now()+${aheadMs})(Date.now)`;
  const gateway = await spawnGateway({
    ...ENV,
    UPSTREAM_API_KEY: heldKey,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}`,
    ...env,
  });
  onTestFinished(async () => void (await gateway.end('SIGKILL')));
  return { url: gateway.url, logLines: gateway.lines };
};

type Started = Awaited<ReturnType<typeof startAhead>>;

const warningOf = ({ logLines }: Started, message: string) =>
  logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith(message));

/** Retention has run to its end once it has dropped all but five. */
const storeUntilTrimmed = async ({ url }: Started, numbers: readonly number[]) => {
  const path = await deliveryPathOf(url);
  for (const number of numbers) await store(url, path, number);
  await vi.waitFor(async () => expect((await everythingStored(url)).length).toBeLessThan(6), {
    timeout: 60_000,
    interval: 100,
  });
  return everythingStored(url);
};

test.for([
  ['ahead', EIGHT_DAYS_MS],
  ['behind', -EIGHT_DAYS_MS],
] as const)(
  'one of two gateways on a Redis is 8 days %s: it deletes nothing of anyone, and says that its clock is wrong',
  async ([, aheadMs], context) => {
    await needRedis(context);
    const redis = await startRedis();
    await using right = await startGateway({ ...ENV, REDIS_URL: redis.url });
    const path = await deliveryPathOf(right.url);
    for (const number of [1, 2, 3]) await store(right.url, path, number);
    const wrong = await startAhead({ REDIS_URL: redis.url }, aheadMs);
    expect(await storeUntilTrimmed(wrong, [4, 5, 6])).toEqual([2, 3, 4, 5, 6]);
    // What it has stored itself has the wrong time, and stays for the other one, too.
    expect(await storeUntilTrimmed(right, [7, 8])).toEqual([4, 5, 6, 7, 8]);
    await vi.waitFor(() => expect(warningOf(wrong, 'the clock is wrong')).toHaveLength(1), 60_000);
    expect(Math.abs(warningOf(wrong, 'the clock is wrong')[0].aheadSeconds * 1000 - aheadMs)).toBeLessThan(
      60_000,
    );
    expect(warningOf(right, 'the clock is wrong')).toEqual([]);
  },
);

test('a gateway with a log of its own that starts 8 days ahead deletes nothing, and says what it waits for', async () => {
  const env = { ...ENV, DATA_DIR: await temporaryDirectory() };
  await using right = await startGateway(env);
  const path = await deliveryPathOf(right.url);
  for (const number of [1, 2, 3]) await store(right.url, path, number);
  await right.stop();
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + EIGHT_DAYS_MS);
  onTestFinished(() => void vi.restoreAllMocks());
  await using wrong = await startGateway(env);
  expect(await storeUntilTrimmed(wrong, [4, 5, 6])).toEqual([2, 3, 4, 5, 6]);
  expect(warningOf(wrong, 'retention by age waits')).toHaveLength(1);
  await wrong.stop();
  await using again = await startGateway(env);
  expect(await storeUntilTrimmed(again, [7])).toEqual([3, 4, 5, 6, 7]);
  expect(warningOf(again, 'retention by age waits')).toHaveLength(1);
});
