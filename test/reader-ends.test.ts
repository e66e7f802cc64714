import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { deliver } from './support/deliver.ts';
import { scrape } from './support/exposition.ts';
import { codesOf, type Gateway, nowhere, startGateway } from './support/gateway.ts';
import { listenTo, message, openRawSocket, subscribeMessage } from './support/raw-socket.ts';
import { readersToBe } from './support/readers.ts';
import { eventually } from './support/subscribe.ts';
import { bearer, byToken, tokenOf } from './support/tokens.ts';

/** A subscription that has ended holds nothing, and says nothing any more: however it ended, and whenever. */

const ALL = 'subscription ($after: String) { deliveries(after: $after) { cursor node { payload } } }';

const PAGE = 'query ($after: String) { deliveries(first: 1, after: $after) { nodes { id } } }';

const startOf = async (gateway: Gateway) => {
  const { deliveryUrl, deliveries } = await gateway.data<{
    deliveryUrl: string;
    deliveries: { head: string };
  }>('{ deliveryUrl deliveries { head } }');
  return { url: deliveryUrl, head: deliveries.head };
};

const large = (name: string, bytes: number) => ({ name, filler: 'x'.repeat(bytes) });

test('a subscription that was completed while its socket was full sends nothing afterwards', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { url, head } = await startOf(gateway);
  using other = await listenTo(gateway);
  other.write(subscribeMessage(ALL, { after: head }));
  using stalled = await listenTo(gateway);
  stalled.write(subscribeMessage(ALL, { after: head }, 'gone'));
  await readersToBe(gateway.url, 2);
  stalled.stall();
  for (let number = 0; number < 10; number += 1) await deliver(url, { body: large(`${number}`, 2_000_000) });
  await eventually(() => other.told.length === 10);
  stalled.write(message({ id: 'gone', type: 'complete' }));
  await readersToBe(gateway.url, 1);
  await deliver(url, { body: { name: 'late' } });
  await eventually(() => other.told.length === 11);
  stalled.readOn();
  stalled.write(message({ type: 'ping' }));
  await eventually(() => stalled.told.some(({ type }) => type === 'pong'));
  await deliver(url, { body: { name: 'later' } });
  await eventually(() => other.told.length === 12);
  stalled.write(message({ type: 'ping' }));
  await eventually(() => stalled.told.filter(({ type }) => type === 'pong').length === 2);
  expect(stalled.told.filter(({ type }) => type === 'next').length).toBeLessThan(10);
  expect(JSON.stringify(stalled.told)).not.toContain('"late');
});

test('a subscription that was completed before it knew where the log ends is none', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { url, head } = await startOf(gateway);
  using other = await listenTo(gateway);
  other.write(subscribeMessage(ALL));
  await readersToBe(gateway.url, 1);
  using hasty = await listenTo(gateway);
  for (let number = 0; number < 100; number += 1) {
    const id = String(number);
    hasty.write(subscribeMessage(ALL, {}, id));
    if (number % 2) await new Promise((resolve) => setImmediate(resolve));
    hasty.write(message({ id, type: 'complete' }));
  }
  await readersToBe(gateway.url, 1);
  await deliver(url, { body: { name: 'late' } });
  await eventually(() => other.told.length === 1);
  hasty.write(message({ type: 'ping' }));
  await eventually(() => hasty.told.length > 0);
  expect(hasty.told).toEqual([{ type: 'pong' }]);
  expect(head).not.toBe('');
});

test('an id can be used again as soon as it was completed, and is of its last subscription alone', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { url, head } = await startOf(gateway);
  {
    using client = await listenTo(gateway);
    const again = [subscribeMessage(ALL, { after: head }), message({ id: '1', type: 'complete' })];
    client.write(...again, ...again, ...again, subscribeMessage(ALL, { after: head }));
    await readersToBe(gateway.url, 1);
    // Also when the former was under way.
    client.write(message({ id: '1', type: 'complete' }), subscribeMessage(ALL, { after: head }));
    await deliver(url, { body: { name: 'one' } });
    await eventually(() => client.told.some(({ type }) => type === 'next'));
    client.write(message({ type: 'ping' }));
    await eventually(() => client.told.some(({ type }) => type === 'pong'));
    expect(client.told.map(({ type }) => type)).toEqual(['next', 'pong']);
    await readersToBe(gateway.url, 1);
  }
  await readersToBe(gateway.url, 0);
});

test('an id that is in use can not be used twice', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  using client = await listenTo(gateway);
  client.write(subscribeMessage(ALL), subscribeMessage(ALL));
  expect(await client.closed).toBe(4409);
  await readersToBe(gateway.url, 0);
});

const eventStreamRequest = (gateway: Gateway, method: string) => {
  const { hostname, port } = new URL(gateway.url);
  const query = encodeURIComponent('subscription { deliveries { cursor } }');
  return request({
    hostname,
    port,
    method,
    path: `/graphql?query=${query}`,
    headers: { accept: 'text/event-stream' },
    agent: false,
  });
};

test('clients that subscribe and are gone at once leave nothing behind, by socket and by event stream', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  for (let number = 0; number < 200; number += 1) {
    const client = await openRawSocket(gateway.url, () => {});
    client.write(subscribeMessage(ALL));
    if (number % 3) await setTimeout(number % 4);
    if (number % 2) client.socket.resetAndDestroy();
    else client.socket.destroy();

    const { hostname, port } = new URL(gateway.url);
    const stream = connect(Number(port), hostname);
    stream.on('error', () => {});
    await once(stream, 'connect');
    const body = JSON.stringify({ query: ALL });
    stream.write(
      `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    if (number % 3) await setTimeout(number % 4);
    stream.resetAndDestroy();
  }
  await readersToBe(gateway.url, 0);
});

test('a HEAD of a subscription reads nothing', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const head = eventStreamRequest(gateway, 'HEAD').end();
  await once(head, 'response');
  await readersToBe(gateway.url, 0);
  head.destroy();
});

/** Rights that end within about two seconds: clocks are given five. */
const SOON = () => Math.floor(Date.now() / 1000) - 3;

const listenToEvents = async (url: string, document: string, headers: Record<string, string> = {}) => {
  const query = encodeURIComponent(document);
  const sent = request(`${url}/graphql?query=${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
    agent: false,
  });
  sent.on('error', () => {});
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  const ended = new Promise<void>((resolve) => response.on('close', resolve));
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  return { response, text: () => text, ended, [Symbol.dispose]: () => void sent.destroy() };
};

test('when a token expires its client comes back with a new one, and has missed nothing', async () => {
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
      // What arrives while it is away.
      await deliver(deliveryUrl, { body: { number: 2 } });
    },
    connectionParams: async () => bearer(await tokenOf(closes.length ? {} : { exp: SOON() })),
    on: { closed: (event) => closes.push((event as CloseEvent).code) },
  });
  type Told = { deliveries: { cursor: string; node: { payload: { number: number } } } };
  const stop = client.subscribe<Told>(
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

test('a token that expires frees its readers at once, read or stalled, and serves nothing more', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken });
  const lasting = bearer(await tokenOf());
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, lasting);
  const expiring = bearer(await tokenOf({ exp: SOON() }));
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
  const told: string[] = [];
  using stalled = await openRawSocket(gateway.url, (payload) => told.push(String(payload)), expiring);
  stalled.write(subscribeMessage(ALL));
  // Answers no close, as its peer may not.
  using silent = await openRawSocket(gateway.url, (payload) => told.push(String(payload)), expiring);
  silent.write(subscribeMessage(ALL));
  await readersToBe(gateway.url, 4);
  stalled.stall();
  stalledStream.response.pause();
  for (let number = 0; number < 5; number += 1)
    await deliver(deliveryUrl, { body: large(`${number}`, 2_000_000) });
  await readersToBe(gateway.url, 0);
  expect(await silent.closed).toBe(4403);

  const answered = told.length;
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
  stalled.readOn();
  expect(await stalled.closed).toBe(4403);
  expect(told.slice(answered).join()).not.toMatch(/late/);
  expect(
    (await scrape(gateway.url)).sum('gateway_operations_total', { transport: 'websocket', type: 'query' }),
  ).toBe(0);
});

test('a cursor that was trimmed ends a subscription with CURSOR_EXPIRED, by socket and by event stream', async () => {
  await using first = await startGateway({ UPSTREAM_URL: nowhere });
  const { url, head } = await startOf(first);
  for (let number = 0; number < 10; number += 1) await deliver(url, { body: { number } });
  await first.stop();
  await using gateway = await startGateway({
    UPSTREAM_URL: nowhere,
    DATA_DIR: first.dataDir,
    DELIVERY_RETENTION_COUNT: '5',
  });
  // Trimming goes on beside what is asked meanwhile.
  const expired = async () => codesOf(await gateway.query(PAGE, { after: head }))[0] === 'CURSOR_EXPIRED';
  while (!(await expired())) await setTimeout(10);
  using client = await listenTo(gateway);
  client.write(subscribeMessage(ALL, { after: head }));
  await eventually(() => client.told.length === 1);
  expect(client.told[0]).toMatchObject({
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

test('complete, and the end of a socket, free the reader', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const client = await listenTo(gateway);
  client.write(subscribeMessage(ALL, {}, '1'), subscribeMessage(ALL, {}, '2'));
  await readersToBe(gateway.url, 2);
  client.write(message({ id: '1', type: 'complete' }));
  await readersToBe(gateway.url, 1);
  client.socket.end();
  await readersToBe(gateway.url, 0);
});
