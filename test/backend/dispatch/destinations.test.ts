import { describe, expect, test } from 'vitest';
import { Destinations } from '../../../src/backend/dispatch/destinations.ts';
import { freePort } from '../../support/free-port.ts';
import { block, transaction } from './support/builders.ts';
import { eventually, type Received, startReceiver } from './support/receiver.ts';
import { startDelivering, startService } from './support/service.ts';

/** What becomes of deliveries whose url is down, or takes one thing and refuses another. */

/** The schedule of the service as it is shipped: whatever arrives within a test has not waited for a retry. */
const SHIPPED = { retries: { firstMs: 55_000, factor: 6 }, probes: { firstMs: 5, maxMs: 40 } };

const numbered = (number: number) => block([transaction({ nonce: number })]);
const numberOf = ({ body }: Pick<Received, 'body'>): number => Number(JSON.parse(body).transactions[0].nonce);
const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const retryOf = ({ headers }: Received): number => Number(headers['x-sandbox-webhook-retry-index']);

/** A log whose lines can be waited for. */
const createLog = () => {
  const lines: [message: string, details: Readonly<Record<string, unknown>>][] = [];
  return {
    lines,
    log: (...line: (typeof lines)[number]) => void lines.push(line),
    until: (message: string) => eventually(() => lines.some(([each]) => each === message), message),
  };
};

describe('a url that can not be reached', () => {
  test('gets everything at once, in order and once each, when it is back; probes use up no retries', async () => {
    const { lines, log, until } = createLog();
    const port = await freePort();
    await using service = startService({ ...SHIPPED, log });
    const url = `http://127.0.0.1:${port}`;
    const paths = ['/one', '/two', '/three?secret'];
    for (const path of paths) service.create({ url: url + path });
    for (const number of range(20)) service.webhooks.handleBlock(numbered(number));
    await until('deliveries wait');
    // Those that come later go behind the others.
    for (const number of range(20)) service.webhooks.handleBlock(numbered(20 + number));

    await using receiver = await startReceiver(undefined, port);
    await service.webhooks.settled();
    expect(receiver.received).toHaveLength(3 * 40);
    for (const path of paths) {
      const received = receiver.received.filter((each) => each.path === path);
      expect(received.map(numberOf)).toEqual(range(40));
      expect(Math.max(...received.map(retryOf))).toBeLessThanOrEqual(1);
    }
    const problem = expect.stringContaining('ECONNREFUSED');
    expect(lines).toEqual([
      ['deliveries wait', { to: url, problem }],
      ['deliveries go on', { to: url }],
    ]);
  });

  test('for longer than a delivery is retried loses what has waited for so long, and the log counts it', async () => {
    const { lines, log } = createLog();
    await using service = startService({ retries: { firstMs: 20, factor: 1 }, log });
    const webhookId = service.create({ url: `http://127.0.0.1:${await freePort()}` });
    for (const number of range(5)) service.webhooks.handleBlock(numbered(number));
    await service.webhooks.settled();
    const told = lines.filter(([message]) => message.endsWith('abandoned'));
    for (const [, details] of told) expect(details).toMatchObject({ webhookId });
    expect(told.reduce((sum, [, { deliveries = 1 }]) => sum + Number(deliveries), 0)).toBe(5);
  });
});

test.each([503, 502, 429, 'hang up', 'never'] as const)(
  'a url that answers everything with %s gets everything in seconds once it answers 200, and each counts few attempts',
  async (failure) => {
    const accepted: number[] = [];
    let isDown = true;
    const answer = (_: number, received: Received) => {
      if (isDown) return failure;
      accepted.push(numberOf(received));
      return 200;
    };
    await using service = await startDelivering(answer, {
      ...SHIPPED,
      // Long enough for a busy machine to answer.
      deliveryTimeoutMs: failure === 'never' ? 500 : 10_000,
    });
    service.create();
    for (const number of range(20)) service.webhooks.handleBlock(numbered(number));
    await service.receiver.until(4);
    isDown = false;
    await service.webhooks.settled();
    // The probe is first. All others come in their order.
    const [probe, ...others] = accepted;
    expect(others).toEqual(range(20).filter((number) => number !== probe));
    expect(Math.max(...service.receiver.received.map(retryOf))).toBeLessThanOrEqual(1);
  },
);

test.each(['hang up', 503] as const)(
  'the only delivery of a url that answers it with %s once, as when a receiver restarts, is sent again at once',
  async (failure) => {
    await using service = await startDelivering((index) => (index < 3 ? failure : 200), SHIPPED);
    service.create();
    service.webhooks.handleBlock(numbered(1));
    await service.webhooks.settled();
    expect(service.receiver.received.map(retryOf)).toEqual([0, 1, 1, 1]);
  },
);

describe('a delivery that its url alone does not take', () => {
  test.each([413, 500, 'hang up'] as const)(
    '(%s) holds up no other, and is tried again by its own schedule',
    async (failure) => {
      await using service = await startDelivering(
        (_, received) => (numberOf(received) === 3 ? failure : 200),
        SHIPPED,
      );
      const id = service.create();
      for (const number of range(9)) service.webhooks.handleBlock(numbered(number));
      await eventually(() => new Set(service.receiver.received.map(numberOf)).size === 9);
      const numbers = service.receiver.received.map(numberOf);
      expect(numbers.filter((number) => number !== 3)).toEqual([1, 2, 4, 5, 6, 7, 8, 9]);
      // Where nothing was answered, it is tried once more when others are accepted.
      const attempts = failure === 'hang up' ? 2 : 1;
      await eventually(
        () => service.receiver.received.filter((each) => numberOf(each) === 3).length === attempts,
      );
      service.webhooks.handleBlock(numbered(10));
      await eventually(() => service.receiver.received.map(numberOf).includes(10));
      expect(service.receiver.received).toHaveLength(9 + attempts);
      expect(service.ask('GET', `/${id}`).status).toBe(200);
    },
  );

  test('is named in the log with its webhook, status and size, and further ones of a minute are counted', async () => {
    const { lines, log } = createLog();
    await using service = await startDelivering(() => 413, { ...SHIPPED, log });
    const webhookId = service.create();
    for (const number of range(3)) service.webhooks.handleBlock(numbered(number));
    const received = await service.receiver.until(3);
    await eventually(() => lines.length > 0);
    const bytes = Buffer.byteLength(received[0]?.body ?? '');
    const problem = 'its url answered 413';
    expect(lines).toEqual([
      ['delivery refused', { webhookId, chainId: 1, status: 413, bytes, retry: 0, problem }],
    ]);
  });
});

test('a url that refuses everything, as with another secret, gets all of it once it accepts one', async () => {
  let isWrong = true;
  await using service = await startDelivering(() => (isWrong ? 401 : 200), SHIPPED);
  service.create();
  for (const number of range(5)) service.webhooks.handleBlock(numbered(number));
  await service.receiver.until(5);
  isWrong = false;
  service.webhooks.handleBlock(numbered(6));
  await service.webhooks.settled();
  expect(service.receiver.received.map(numberOf)).toEqual([...range(5), 6, ...range(5)]);
});

test('the pauses between probes double, and become short again when another url of the origin answers', () => {
  const destinations = new Destinations({ firstMs: 10, maxMs: 50 }, () => {});
  const [url, other] = ['http://receiver.test/one', 'http://receiver.test/other'];
  const probedAt: number[] = [];
  for (let now = 0; probedAt.length < 6; now = destinations.opensAt(url)) {
    probedAt.push(now);
    destinations.began(url);
    destinations.unavailable(url, now, 'it answered 503');
  }
  expect(probedAt).toEqual([0, 10, 30, 70, 120, 170]);
  expect([destinations.opensAt(url), destinations.opensAt(other)]).toEqual([220, 0]);
  destinations.answered('http://elsewhere.test/');
  expect(destinations.opensAt(url)).toBe(220);
  destinations.answered(other);
  expect(destinations.opensAt(url)).toBe(180);
  destinations.answered(url);
  expect(destinations.opensAt(url)).toBe(0);
});

test('a service that is paused sends what it has once it starts', async () => {
  await using service = await startDelivering(undefined, { isPaused: true });
  service.create();
  for (const number of range(3)) service.webhooks.handleBlock(numbered(number));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(service.receiver.received).toEqual([]);
  service.webhooks.start();
  await service.webhooks.settled();
  expect(service.receiver.received.map(numberOf)).toEqual(range(3));
});
