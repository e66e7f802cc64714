import { once } from 'node:events';
import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';

const KEYS = { UPSTREAM_URL: nowhere, AUTH: 'key', UPSTREAM_API_KEY: undefined };

/** Opens a socket with the key. `answer` is null if it is acknowledged, otherwise the code that it is closed with. */
const open = async (gatewayUrl: string, key: string, headers: Record<string, string> = {}) => {
  const url = `${gatewayUrl.replace('http', 'ws')}/graphql`;
  const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
  const answer = Promise.withResolvers<number | null>();
  socket.on('message', () => answer.resolve(null));
  socket.on('close', (code) => answer.resolve(code));
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { 'X-Service-Api-Key': key } }));
  return { socket, answer: await answer.promise };
};

test.each([
  ['a key', KEYS],
  ['an address behind a trusted proxy', { UPSTREAM_URL: nowhere, TRUSTED_PROXIES: '127.0.0.1' }],
])('%s may have a thousand open sockets, and opens another when one has closed', async (_what, env) => {
  await using gateway = await startGateway(env);
  const openOne = () => open(gateway.url, 'one', { 'x-forwarded-for': '203.0.113.1' });
  const sockets: WebSocket[] = [];
  for (let index = 0; index < 1000; index += 100) {
    const opened = await Promise.all(Array.from({ length: 100 }, openOne));
    expect(opened.map(({ answer }) => answer)).toEqual(Array(100).fill(null));
    sockets.push(...opened.map(({ socket }) => socket));
  }
  expect((await openOne()).answer).toBe(1013);
  const other = await open(gateway.url, 'another', { 'x-forwarded-for': '203.0.113.2' });
  expect(other.answer).toBeNull();

  sockets.pop()?.terminate();
  let again = await openOne();
  while (again.answer === 1013) again = await openOne();
  expect(again.answer).toBeNull();
  for (const socket of [...sockets, other.socket, again.socket]) socket.terminate();
});

test('a key may have a thousand open event streams, and opens another when one has closed', async () => {
  await using gateway = await startGateway(KEYS);
  const closing: AbortController[] = [];
  // Node closes the connection of a response that nothing refers to.
  const opened: Response[] = [];
  const stream = async (key: string) => {
    const { signal } = closing[closing.push(new AbortController()) - 1] ?? {};
    const headers = { accept: 'text/event-stream', 'x-service-api-key': key };
    const query = encodeURIComponent('subscription { deliveries { cursor } }');
    const response = await fetch(`${gateway.url}/graphql?query=${query}`, {
      headers,
      ...(signal && { signal }),
    });
    if (response.status === 200) opened.push(response);
    else await response.body?.cancel();
    return response.status;
  };
  for (let index = 0; index < 1000; index += 100)
    expect(await Promise.all(Array.from({ length: 100 }, () => stream('one')))).toEqual(Array(100).fill(200));
  expect(await stream('one')).toBe(503);
  expect(await stream('another')).toBe(200);
  closing[0]?.abort();
  while ((await stream('one')) !== 200);
  for (const each of closing) each.abort();
});

test('beyond MAX_SOCKETS an upgrade is rejected with 503, whichever key it has', async () => {
  await using gateway = await startGateway({ ...KEYS, MAX_SOCKETS: '2' });
  const [first, second] = [await open(gateway.url, 'one'), await open(gateway.url, 'two')];
  await expect(open(gateway.url, 'three')).rejects.toThrow('503');
  first.socket.terminate();
  second.socket.terminate();
});

test('a hundred subscriptions on a socket continue while the next is rejected', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const faults: unknown[] = [];
  const listen = (query: string) =>
    client.subscribe({ query }, { next: () => {}, error: (error) => faults.push(error), complete: () => {} });
  for (let index = 0; index < 100; index += 1) listen(`subscription S${index} { deliveries { cursor } }`);
  listen('subscription { deliveries { cursor } }');
  await eventually(() => faults.length === 1);
  expect(faults).toEqual([
    [expect.objectContaining({ extensions: expect.objectContaining({ code: 'OPERATION_TOO_COMPLEX' }) })],
  ]);
  await client.dispose();
});

test('without a key each operation is answered with UNAUTHENTICATED, and the socket stays open', async () => {
  await using gateway = await startGateway(KEYS);
  await using anonymous = subscribe(gateway.url);
  await anonymous.ended;
  expect(anonymous.faults.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
  expect(anonymous.closes).toEqual([]);
});

test('a subscription of more than 32 KB is rejected, by WebSocket and as an event stream', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const variables = { junk: 'x'.repeat(33_000) };
  await using large = subscribe(gateway.url, { variables });
  await large.ended;
  expect(large.faults.map(({ extensions }) => extensions.code)).toEqual(['OPERATION_TOO_COMPLEX']);
  const body = JSON.stringify({ query: 'subscription { deliveries { cursor } }', variables });
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  for (const padded of [
    body,
    `{${' '.repeat(33_000)}${JSON.stringify({ query: 'subscription { deliveries { cursor } }' }).slice(1)}`,
  ]) {
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: padded });
    expect(await response.text()).toContain('OPERATION_TOO_COMPLEX');
  }
});

test('beyond MAX_SOCKETS an event stream is rejected too, until one has closed', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, MAX_SOCKETS: '1' });
  const listen = (signal?: AbortSignal) =>
    fetch(`${gateway.url}/graphql?query=subscription{deliveries{cursor}}`, {
      headers: { accept: 'text/event-stream' },
      signal: signal ?? null,
    });
  const first = new AbortController();
  expect((await listen(first.signal)).status).toBe(200);
  const refused = await listen();
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain('OPERATION_TOO_COMPLEX');
  first.abort();
  const second = new AbortController();
  await expect.poll(async () => (await listen(second.signal)).status).toBe(200);
  second.abort();
});
