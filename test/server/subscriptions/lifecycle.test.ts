import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { listenTo, message, openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** A subscription that has ended keeps no reader and sends no further event, whatever ended it. */

const ALL = 'subscription ($after: String) { deliveries(after: $after) { cursor node { payload } } }';

const startOf = async (gateway: Gateway) => {
  const { deliveryUrl, deliveries } = await gateway.data<{
    deliveryUrl: string;
    deliveries: { head: string };
  }>('{ deliveryUrl deliveries { head } }');
  return { url: deliveryUrl, head: deliveries.head };
};

const large = (name: string, bytes: number) => ({ name, filler: 'x'.repeat(bytes) });

test('a subscription that is completed while its socket is full sends no further event', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { url, head } = await startOf(gateway);
  using other = await listenTo(gateway);
  other.write(subscribeMessage(ALL, { after: head }));
  using stalled = await listenTo(gateway);
  stalled.write(subscribeMessage(ALL, { after: head }, 'completed'));
  await readersToBe(gateway.url, 2);
  stalled.stall();
  for (let number = 0; number < 10; number += 1) await deliver(url, { body: large(`${number}`, 2_000_000) });
  await eventually(() => other.received.length === 10);
  stalled.write(message({ id: 'completed', type: 'complete' }));
  await readersToBe(gateway.url, 1);
  await deliver(url, { body: { name: 'late' } });
  await eventually(() => other.received.length === 11);
  stalled.resume();
  stalled.write(message({ type: 'ping' }));
  await eventually(() => stalled.received.some(({ type }) => type === 'pong'));
  await deliver(url, { body: { name: 'later' } });
  await eventually(() => other.received.length === 12);
  stalled.write(message({ type: 'ping' }));
  await eventually(() => stalled.received.filter(({ type }) => type === 'pong').length === 2);
  expect(stalled.received.filter(({ type }) => type === 'next').length).toBeLessThan(10);
  expect(JSON.stringify(stalled.received)).not.toContain('"late');
});

test('a subscription that is completed before the end of the log was read never begins', async () => {
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
  await eventually(() => other.received.length === 1);
  hasty.write(message({ type: 'ping' }));
  await eventually(() => hasty.received.length > 0);
  expect(hasty.received).toEqual([{ type: 'pong' }]);
  expect(head).not.toBe('');
});

test('an id can be used again as soon as it is completed, and only its last subscription sends events', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { url, head } = await startOf(gateway);
  {
    using client = await listenTo(gateway);
    const again = [subscribeMessage(ALL, { after: head }), message({ id: '1', type: 'complete' })];
    client.write(...again, ...again, ...again, subscribeMessage(ALL, { after: head }));
    await readersToBe(gateway.url, 1);
    // The id of a subscription that has begun.
    client.write(message({ id: '1', type: 'complete' }), subscribeMessage(ALL, { after: head }));
    await deliver(url, { body: { name: 'one' } });
    await eventually(() => client.received.some(({ type }) => type === 'next'));
    client.write(message({ type: 'ping' }));
    await eventually(() => client.received.some(({ type }) => type === 'pong'));
    expect(client.received.map(({ type }) => type)).toEqual(['next', 'pong']);
    await readersToBe(gateway.url, 1);
  }
  await readersToBe(gateway.url, 0);
});

test.each([
  ['short', '1'],
  ['longer than a close frame', 'i'.repeat(1000)],
  ['longer in bytes than in characters', '\u{1f600}'.repeat(40)],
])('an id that is in use can not be used twice: a %s one', async (_length, id) => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  using client = await listenTo(gateway);
  client.write(subscribeMessage(ALL, {}, id), subscribeMessage(ALL, {}, id));
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

test('clients that subscribe and disconnect at once leave no reader, by WebSocket and by event stream', async () => {
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
