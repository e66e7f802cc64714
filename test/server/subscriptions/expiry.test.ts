import { setTimeout } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { temporaryDirectory } from '../../deliveries/support/builders.ts';
import { deliver } from '../../support/clients/deliver.ts';
import { listenToEvents } from '../../support/clients/event-stream.ts';
import { listenTo, openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { codesOf, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, expiringSoon, tokenOf } from '../../support/gateway/tokens.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** Subscriptions whose token expires, or whose cursor is older than the log's retention. */

const ALL = 'subscription ($after: String) { deliveries(after: $after) { cursor node { payload } } }';

const PAGE = 'query ($after: String) { deliveries(first: 1, after: $after) { nodes { id } } }';

test('when a token expires, its client reconnects with a new one and has missed no event', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken });
  const lasting = bearer(await tokenOf());
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, lasting);
  const closes: number[] = [];
  const numbers: number[] = [];
  const variables: { after?: string } = {};
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 5,
    retryWait: async () => {
      // A delivery that arrives while the client is disconnected.
      await deliver(deliveryUrl, { body: { number: 2 } });
    },
    connectionParams: async () => bearer(await tokenOf(closes.length ? {} : expiringSoon())),
    on: { closed: (event) => closes.push((event as CloseEvent).code) },
  });
  type EventData = { deliveries: { cursor: string; node: { payload: { number: number } } } };
  const stop = client.subscribe<EventData>(
    { query: ALL, variables },
    {
      next({ data }) {
        if (!data) return;
        numbers.push(data.deliveries.node.payload.number);
        variables.after = data.deliveries.cursor;
      },
      error: () => {},
      complete: () => {},
    },
  );
  await readersToBe(gateway.url, 1);
  await deliver(deliveryUrl, { body: { number: 1 } });
  await eventually(() => closes.length === 1);
  await eventually(() => numbers.length === 2);
  await deliver(deliveryUrl, { body: { number: 3 } });
  await eventually(() => numbers.length === 3);
  expect(closes).toEqual([4403]);
  expect(numbers).toEqual([1, 2, 3]);
  stop();
  await client.dispose();
});

test('a token that expires frees its readers at once, of reading and of stalled clients, and serves no further operation', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken });
  const lasting = bearer(await tokenOf());
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, lasting);
  const expiring = bearer(await tokenOf(expiringSoon()));
  using reading = await listenToEvents(
    gateway.url,
    'subscription { deliveries { cursor node { payload } } }',
    expiring,
  );
  using stalledStream = await listenToEvents(
    gateway.url,
    'subscription { deliveries { cursor node { payload } } }',
    expiring,
  );
  const received: string[] = [];
  using stalled = await openRawSocket(gateway.url, (payload) => received.push(String(payload)), expiring);
  stalled.write(subscribeMessage(ALL));
  // This client never answers the close frame.
  using silent = await openRawSocket(gateway.url, (payload) => received.push(String(payload)), expiring);
  silent.write(subscribeMessage(ALL));
  await readersToBe(gateway.url, 4);
  stalled.stall();
  stalledStream.response.pause();
  for (let number = 0; number < 5; number += 1)
    await deliver(deliveryUrl, { body: { number, filler: 'x'.repeat(2_000_000) } });
  await readersToBe(gateway.url, 0);
  expect(await silent.closed).toBe(4403);

  const answered = received.length;
  silent.write(subscribeMessage('{ __typename }', {}, 'late'));
  await deliver(deliveryUrl, { body: { name: 'late' } });
  await reading.ended;
  expect(reading.text()).toMatch(
    /event: next\ndata: \{"errors":\[.*"UNAUTHENTICATED".*\],"extensions":\{"upstream":.*\}\}\n\nevent: complete\ndata:\n\n$/,
  );
  expect(reading.text()).not.toContain('"late"');
  stalledStream.response.resume();
  await stalledStream.ended;
  expect(stalledStream.text()).toMatch(/"UNAUTHENTICATED".*\n\nevent: complete\ndata:\n\n$/);
  stalled.resume();
  expect(await stalled.closed).toBe(4403);
  expect(received.slice(answered).join()).not.toMatch(/late/);
  expect(
    (await scrape(gateway.url)).sum('gateway_operations_total', { transport: 'websocket', type: 'query' }),
  ).toBe(0);
});

test('a cursor that was trimmed ends a subscription with CURSOR_EXPIRED, by WebSocket and by event stream', async () => {
  const env = { UPSTREAM_URL: nowhere, DATA_DIR: await temporaryDirectory() };
  await using first = await startGateway(env);
  const { deliveryUrl, deliveries } = await first.data<{
    deliveryUrl: string;
    deliveries: { head: string };
  }>('{ deliveryUrl deliveries { head } }');
  const { head } = deliveries;
  for (let number = 0; number < 10; number += 1) await deliver(deliveryUrl, { body: { number } });
  await first.stop();
  await using gateway = await startGateway({ ...env, DELIVERY_RETENTION_COUNT: '5' });
  // Trimming runs beside the queries.
  const expired = async () => codesOf(await gateway.query(PAGE, { after: head }))[0] === 'CURSOR_EXPIRED';
  while (!(await expired())) await setTimeout(10);
  using client = await listenTo(gateway);
  client.write(subscribeMessage(ALL, { after: head }));
  await eventually(() => client.received.length === 1);
  expect(client.received[0]).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'CURSOR_EXPIRED', reason: 'trimmed' } }],
  });
  using stream = await listenToEvents(
    gateway.url,
    `subscription { deliveries(after: "${head}") { cursor } }`,
  );
  await stream.ended;
  expect(stream.text()).toMatch(/"CURSOR_EXPIRED".*\n\nevent: complete\ndata:\n\n$/);
  await readersToBe(gateway.url, 0);
});
