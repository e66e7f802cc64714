import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { UNSENT_TIMES } from '../../../src/server/http/unsent-limit.ts';
import { deliveriesOf } from '../../support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { startGatewayProcess } from '../../support/gateway/process.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { isFull } from '../../support/runs.ts';

/** Backpressure: a subscriber that does not read costs no more memory than its socket buffers, and delays no other. */

const DOCUMENT = 'subscription ($after: String) { deliveries(after: $after) { node { payload } } }';
const FILLER = 'x'.repeat(100_000);

const NUMBER = /"number":(\d+)/;
const numberIn = (text: string): number => Number(NUMBER.exec(text)?.[1]);

/** Posts deliveries with these numbers, of 100 KB by default, as fast as the gateway answers. */
const post = async (deliveryUrl: string, count: number, first = 0, filler = FILLER): Promise<void> => {
  const { origin, pathname } = new URL(deliveryUrl);
  const pool = new Pool(origin, { connections: 32 });
  let next = first;
  const sender = async () => {
    while (next < first + count) {
      const body = `{"number":${next++},"filler":"${filler}"}`;
      const answer = await pool.request({ path: pathname, method: 'POST', body });
      await answer.body.dump();
      expect(answer.statusCode).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 32 }, sender));
  await pool.close();
};

type Reader = { readonly numbers: number[]; stall(): void; resume(): void };

const bySocket = async (url: string, after: string, clients: AsyncDisposableStack): Promise<Reader> => {
  const numbers: number[] = [];
  const client = clients.use(
    await openRawSocket(url, (payload) => numbers.push(numberIn(payload.toString('latin1', 0, 400)))),
  );
  client.write(subscribeMessage(DOCUMENT, { after }));
  return { numbers, stall: client.stall, resume: client.resume };
};

type Open = (url: string, after: string, clients: AsyncDisposableStack) => Promise<Reader>;

/** By what a client accepts, and what is between two events. */
const byEventStream =
  (accept: string, separator: string): Open =>
  async (url, after, clients) => {
    const numbers: number[] = [];
    const { hostname, port } = new URL(url);
    const query = new URLSearchParams({ query: DOCUMENT, variables: JSON.stringify({ after }) });
    const outgoing = request({
      hostname,
      port,
      path: `/graphql?${query}`,
      headers: { accept },
      agent: false,
    });
    outgoing.on('error', () => {});
    clients.defer(() => void outgoing.destroy());
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    let rest = '';
    response.setEncoding('latin1').on('error', () => {});
    response.on('data', (chunk: string) => {
      const blocks = (rest + chunk).split(separator);
      rest = blocks.pop() ?? '';
      for (const block of blocks) if (block.includes('"data":{')) numbers.push(numberIn(block.slice(0, 400)));
    });
    return { numbers, stall: () => response.pause(), resume: () => response.resume() };
  };

/** The number of 20 KB deliveries in 6 MB. */
const BIG = 300;

/** The number of 100 KB deliveries that a stalled reader leaves: 130 MB, or 150 MB. */
const MANY = isFull ? 1500 : 1300;

/** Less than those are together. A busy gateway grows by up to 90 MB. */
const GROWTH_MB = 120;

const slowClock = 'performance.now = ((now) => () => now() / 100)(performance.now.bind(performance))';
/** A reader may stall for a minute by the clock of its gateway. On a busy machine a test takes longer. */
const UNHURRIED = `--import=data:text/javascript,${encodeURIComponent(slowClock)}`;

/** With little room for garbage, the process grows by what it keeps. */
const SMALL = { NODE_OPTIONS: `--max-old-space-size=80 --max-semi-space-size=4 ${UNHURRIED}` };

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

const inLogOrder = (reader: Reader, other: Reader, count: number) => {
  expect(reader.numbers).toEqual(other.numbers);
  expect([...reader.numbers].sort((a, b) => a - b)).toEqual(range(count));
};

const READERS = [
  bySocket,
  byEventStream('text/event-stream', '\n\n'),
  byEventStream('multipart/mixed;subscriptionSpec=1.0', '\r\n--graphql'),
];

test('subscribers by WebSocket, event stream and in parts that stall while much arrives cost no memory, and resume without a gap', async () => {
  await using gateway = await startGatewayProcess(SMALL);
  await using clients = new AsyncDisposableStack();
  const { deliveryUrl, head } = await deliveriesOf(gateway.url);
  const reading = await bySocket(gateway.url, head, clients);
  const stalled = await Promise.all(READERS.map((open) => open(gateway.url, head, clients)));
  await readersToBe(gateway.url, 1 + READERS.length);
  await post(deliveryUrl, 100);
  await eventually(() => [reading, ...stalled].every(({ numbers }) => numbers.length === 100));
  for (const reader of stalled) reader.stall();
  const before = await gateway.megabytes();
  await post(deliveryUrl, MANY, 100);
  // The other subscriber has them all: what is kept now is kept for those that stall.
  await eventually(() => reading.numbers.length === 100 + MANY);
  expect((await gateway.megabytes()) - before).toBeLessThan(GROWTH_MB);
  for (const reader of stalled) reader.resume();
  await eventually(() => stalled.every(({ numbers }) => numbers.length >= 100 + MANY));
  for (const reader of stalled) inLogOrder(reader, reading, 100 + MANY);
});

/** The number of subscribers that stall at once. */
const STALLED = 60;

test('many stalled subscribers cost only what their sockets buffer', async () => {
  await using gateway = await startGatewayProcess({ NODE_OPTIONS: UNHURRIED });
  await using clients = new AsyncDisposableStack();
  const { deliveryUrl, head } = await deliveriesOf(gateway.url);
  const reading = await bySocket(gateway.url, head, clients);
  const stalled: Reader[] = [];
  for (const open of READERS)
    for (let number = 0; number < STALLED / READERS.length; number += 1) {
      const reader = await open(gateway.url, head, clients);
      reader.stall();
      stalled.push(reader);
    }
  await readersToBe(gateway.url, STALLED + 1);
  const before = await gateway.megabytes();
  // More than the operating systems of both ends buffer for one socket.
  await post(deliveryUrl, BIG, 0, 'x'.repeat(20_000));
  await eventually(() => reading.numbers.length === BIG);
  await expect.poll(async () => (await scrape(gateway.url)).sum('gateway_readers_behind')).toBe(STALLED);
  expect((await gateway.megabytes()) - before).toBeLessThan(150);
  for (const reader of stalled) reader.resume();
  await eventually(() => stalled.every(({ numbers }) => numbers.length >= BIG));
  for (const reader of stalled) expect(reader.numbers).toEqual(reading.numbers);
});

test('subscriptions on one slow socket take turns: none waits until another has sent all its events', async () => {
  const times = { unsent: { ...UNSENT_TIMES, stallMs: 3_600_000 } };
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere }, { times });
  const { deliveryUrl, head } = await deliveriesOf(gateway.url);
  await using clients = new AsyncDisposableStack();
  // Its frames stay in the feed's cache, so that the others need no read of the log.
  const reading = await bySocket(gateway.url, head, clients);
  await post(deliveryUrl, 60, 0, 'x'.repeat(240_000));
  await eventually(() => reading.numbers.length === 60);
  const received: string[] = [];
  using client = await openRawSocket(gateway.url, (payload) =>
    received.push(/"id":"(\w)"/.exec(String(payload.subarray(0, 40)))?.[1] ?? ''),
  );
  client.stall();
  client.write(...['a', 'b', 'c'].map((id) => subscribeMessage(DOCUMENT, { after: head }, id)));
  await readersToBe(gateway.url, 4);
  client.socket.on('data', () => {
    client.stall();
    setTimeout(client.resume, 1);
  });
  client.resume();
  await eventually(() => received.length === 180);
  // When the slowest of the three is half through, none of the others has finished.
  const lastHalf = Math.max(
    ...['a', 'b', 'c'].map((id) => received.flatMap((one, at) => (one === id ? [at] : []))[30] ?? 0),
  );
  const firstEnd = Math.min(...['a', 'b', 'c'].map((id) => received.lastIndexOf(id)));
  expect(lastHalf).toBeLessThan(firstEnd);
});

test('subscribers whose messages differ only in the id each get their own, also where some of them stall', async () => {
  const times = { unsent: { ...UNSENT_TIMES, stallMs: 3_600_000 } };
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere }, { times });
  const { deliveryUrl, head } = await deliveriesOf(gateway.url);
  await using clients = new AsyncDisposableStack();
  const ids = ['a', 'b', 'a', randomUUID(), randomUUID(), 'ü"\\', 'x'.repeat(256)];
  const subscribers = await Promise.all(
    ids.map(async (id) => {
      const events: { id: string; number: number }[] = [];
      const client = clients.use(
        await openRawSocket(gateway.url, (payload) => {
          const { id, payload: event } = JSON.parse(String(payload));
          events.push({ id, number: event.data.deliveries.node.payload.number });
        }),
      );
      client.write(subscribeMessage(DOCUMENT, { after: head }, id));
      return { id, events, client };
    }),
  );
  await readersToBe(gateway.url, ids.length);
  const stalled = subscribers.filter((_one, index) => index % 2 === 0);
  for (const { client } of stalled) client.stall();
  // Each frame is short enough to be made in one piece; together they are more than the sockets buffer.
  const filler = 'x'.repeat(12_000);
  const count = 600;
  await post(deliveryUrl, count, 0, filler);
  const reading = subscribers.find((one) => !stalled.includes(one));
  await eventually(() => reading?.events.length === count);
  expect(stalled.map(({ events }) => events.length < count)).toEqual(stalled.map(() => true));
  for (const { client } of stalled) client.resume();
  await eventually(() => subscribers.every(({ events }) => events.length === count));
  const numbers = reading?.events.map(({ number }) => number);
  expect(numbers?.toSorted((a, b) => a - b)).toEqual(range(count));
  for (const { id, events } of subscribers)
    expect(events).toEqual(numbers?.map((number) => ({ id, number })));
});
