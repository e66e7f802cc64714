import { expect, onTestFinished, test, vi } from 'vitest';
import { connectRedis } from '../../src/redis/connection.ts';
import { openInvalidations } from '../../src/redis/invalidations.ts';
import { createNames } from '../../src/redis/names.ts';
import { createInvalidationBus } from '../../src/upstream/cache/entries.ts';
import { launchCluster } from '../support/redis/cluster.ts';
import { PATIENT_TIMES } from '../support/redis/patience.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** What gateways tell each other of the deliveries whose addresses they have invalidated. */

const PARTITION = 'partition';
const names = createNames('a-secret-of-all-gateways', 'http://localhost', null);

const connect = async (urls: readonly string[]) => {
  const redis = await connectRedis({ urls, times: PATIENT_TIMES });
  onTestFinished(() => redis.close());
  return redis;
};

const openGateway = async (urls: readonly string[]) =>
  openInvalidations({
    redis: await connect(urls),
    names,
    memory: createInvalidationBus(),
    observer: { found() {}, ran() {}, refused() {} },
  });

/** A delivery with 20 addresses that no other one has. */
const deliveryOf = (number: number) => ({
  mark: `mark-${number}`,
  addresses: Array.from({ length: 20 }, (_, index) => `0x${number}-${index}`),
});

test.for(['one Redis', 'a Cluster'])(
  'on %s, each message has the marks of its own deliveries only, and a gateway knows each as done',
  async (where, context) => {
    await needRedis(context);
    await using stack = new AsyncDisposableStack();
    const urls = where === 'one Redis' ? [(await startRedis()).url] : stack.use(await launchCluster()).urls;
    const [here, there] = [await openGateway(urls), await openGateway(urls)];
    const messages: string[] = [];
    await (await connect(urls)).subscribe(names.invalidations, (message) => messages.push(message));

    const deliveries = Array.from({ length: 50 }, (_, number) => deliveryOf(number));
    for (const { addresses, mark } of deliveries) here.send(PARTITION, addresses, mark);
    const states = () =>
      new Set(deliveries.map(({ addresses, mark }) => there.stateOf(PARTITION, addresses, mark)));
    await expect.poll(states).toEqual(new Set(['done']));
    const [first, second] = deliveries;
    expect(there.stateOf(PARTITION, second?.addresses ?? [], first?.mark ?? '')).toBe('unknown');

    const sent = () => messages.join(' ').match(/0x\d+-\d+/g)?.length;
    await expect.poll(sent).toBe(50 * 20);
    for (const message of messages) {
      const numbersOf = (name: RegExp) => new Set(Array.from(message.matchAll(name), ([, number]) => number));
      expect(numbersOf(/mark-(\d+)/g)).toEqual(numbersOf(/0x(\d+)-/g));
    }
  },
);

test('a delivery that concerns addresses of others is known as done in all of them', async (context) => {
  await needRedis(context);
  const urls = [(await startRedis()).url];
  const [here, there] = [await openGateway(urls), await openGateway(urls)];
  const deliveries: [string, string[]][] = [
    ['one', ['0xtoken', '0x1']],
    ['other', ['0x2', '0xtoken']],
    ['both', ['0x1', '0x2']],
  ];
  for (const [mark, addresses] of deliveries) here.send(PARTITION, addresses, mark);
  const states = () => deliveries.map(([mark, addresses]) => there.stateOf(PARTITION, addresses, mark));
  await expect.poll(states).toEqual(['done', 'done', 'done']);
});

test('deliveries are forgotten by the number of their addresses, and after 30 seconds', async (context) => {
  await needRedis(context);
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const gateway = await openGateway([(await startRedis()).url]);
  const addresses = Array.from({ length: 2000 }, (_, index) => `0x${index}`);
  vi.advanceTimersByTime(1000);
  const stateOf = (mark: string) => gateway.stateOf(PARTITION, addresses, mark);
  for (let number = 0; number <= 100; number += 1) gateway.send(PARTITION, addresses, `mark-${number}`);
  expect([stateOf('mark-0'), stateOf('mark-1'), stateOf('mark-100')]).toEqual(['unknown', 'sent', 'sent']);
  vi.advanceTimersByTime(30_001);
  await expect.poll(() => stateOf('mark-100')).toBe('unknown');
});
