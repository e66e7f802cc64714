import { afterAll, beforeAll, expect, test } from 'vitest';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { listenTo, message, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { watchLiveness } from '../../support/gateway/liveness.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { codesOf, type GraphQLFault } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** Subscriptions without a common document: each is executed by itself, and its document stays in memory while it is open. */

/** In milliseconds that the gateway runs. */
const GENEROUS_MS = 4000;
const FIELDS = 'type typeName chainId blockNumber blockTime transactionHash from to value valueUsd';
/** A document of about 530 tokens that differs for each number. */
const distinct = (number: number) =>
  `subscription S${number} { deliveries { cursor node { ${Array.from({ length: 38 }, (_, index) => `a${index}: events { ... on Activity { ${index % 4 === 0 ? FIELDS : 'type typeName'} } }`).join(' ')} } } }`;

let shipped: Shipped;
let url: string;
beforeAll(async () => {
  shipped = await startGatewayProcess({ NODE_OPTIONS: '--max-old-space-size=512' });
  url = (await deliveriesOf(shipped.url)).deliveryUrl;
});
afterAll(() => shipped[Symbol.asyncDispose]());

type Client = Awaited<ReturnType<typeof listenTo>>;

const codes = ({ received }: Client) =>
  received.flatMap(({ type, payload }) =>
    type === 'error' ? codesOf({ errors: payload as GraphQLFault[] }) : [],
  );
const events = ({ received }: Client) => received.filter(({ type }) => type === 'next').length;
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

test('different documents are limited, and the accepted subscriptions receive each delivery', async () => {
  const before = await shipped.megabytes();
  await using liveness = await watchLiveness(shipped);
  const clients = await Promise.all(Array.from({ length: 3 }, () => listenTo(shipped)));
  for (const [index, { write }] of clients.entries())
    write(...Array.from({ length: 50 }, (_, n) => subscribeMessage(distinct(index * 50 + n), {}, `${n}`)));
  const readers = async () => (await scrape(shipped.url)).sum('gateway_readers');
  const refused = () => sum(clients.map((client) => codes(client).length));
  await expect.poll(async () => refused() + (await readers())).toBe(150);
  const taken = await readers();
  // Their documents have about 50,000 tokens.
  expect(taken).toBeGreaterThan(50);
  expect(taken).toBeLessThan(100);
  expect(new Set(clients.flatMap(codes))).toEqual(new Set(['OPERATION_TOO_COMPLEX']));
  await liveness.longestWait();
  expect(await deliver(url, { type: 'activities', chainId: 1, body: activity(1) })).toBe(200);
  await eventually(() => sum(clients.map(events)) === taken);
  expect(await liveness.longestWait()).toBeLessThan(GENEROUS_MS);
  expect((await shipped.megabytes()) - before).toBeLessThan(300);

  // As many begin again after those have ended.
  for (const { socket } of clients) socket.destroy();
  await readersToBe(shipped.url, 0);
  using again = await listenTo(shipped);
  again.write(...Array.from({ length: 50 }, (_, n) => subscribeMessage(distinct(1000 + n), {}, `${n}`)));
  await readersToBe(shipped.url, 50);
  again.write(...Array.from({ length: 50 }, (_, n) => message({ type: 'complete', id: `${n}` })));
  await readersToBe(shipped.url, 0);
});

test('equal documents count once, however many subscribe', async () => {
  const clients = await Promise.all(Array.from({ length: 3 }, () => listenTo(shipped)));
  for (const { write } of clients)
    write(...Array.from({ length: 100 }, (_, n) => subscribeMessage(distinct(0), {}, `${n}`)));
  await readersToBe(shipped.url, 300);
  expect(clients.flatMap(codes)).toEqual([]);
  for (const { socket } of clients) socket.destroy();
});
