import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createClient } from 'graphql-sse';
import { expect, test } from 'vitest';
import { maskError } from '../../../src/graph/errors.ts';
import { createStaggeredInterval } from '../../../src/lib/tasks.ts';
import { EVENT_FORMATS } from '../../../src/server/subscriptions/event-formats.ts';
import { EventStream } from '../../../src/server/subscriptions/event-stream.ts';
import { Frame } from '../../../src/server/subscriptions/frame.ts';
import { deliver } from '../../support/clients/deliver.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { issuerKey } from '../../support/gateway/tokens.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** Subscriptions as server-sent events, read by an EventSource as browsers have it and by the client of graphql-sse. */

const DOCUMENT = `subscription ($after: String, $filter: DeliveryFilter) {
  deliveries(after: $after, filter: $filter) { cursor node { payload } }
}`;

type EventData = { data: { deliveries: { cursor: string; node: { payload: { number: number } } } } };
type Fault = { message: string; extensions: { code: string } };

const startOf = async (gateway: Gateway) => {
  const { deliveryUrl, deliveries } = await gateway.data<{
    deliveryUrl: string;
    deliveries: { head: string };
  }>('{ deliveryUrl deliveries { head } }');
  const post = async (...numbers: number[]) => {
    for (const number of numbers) expect(await deliver(deliveryUrl, { body: { number } })).toBe(200);
  };
  return { head: deliveries.head, post };
};

type Block = { id: string | undefined; event: string | undefined; data: string };

/** Reads as an EventSource does: a GET request, whose blocks are collected as they arrive. */
const openEventSource = async (
  gateway: Gateway,
  {
    after,
    lastEventId,
    headers = {},
  }: { after?: string; lastEventId?: string; headers?: Record<string, string> } = {},
) => {
  const abort = new AbortController();
  const query = new URLSearchParams({ query: DOCUMENT, variables: JSON.stringify({ after }) });
  const response = await fetch(`${gateway.url}/graphql?${query}`, {
    headers: {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      ...headers,
    },
    signal: abort.signal,
  });
  const blocks: Block[] = [];
  const ended = readBlocks(response, blocks).catch(() => {});
  return {
    response,
    blocks,
    numbers: () =>
      blocks
        .filter(({ event }) => event === 'next')
        .map(({ data }) => (JSON.parse(data) as EventData).data.deliveries.node.payload.number),
    ended,
    [Symbol.dispose]: () => abort.abort(),
  };
};

const readBlocks = async (response: Response, blocks: Block[]): Promise<void> => {
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const fields = new Map(part.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
      if (fields.has('event'))
        blocks.push({ id: fields.get('id'), event: fields.get('event'), data: fields.get('data') ?? '' });
    }
  }
};

test("each event's id is its cursor; Last-Event-ID wins over after, and no event is missing or sent twice", async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { head, post } = await startOf(gateway);
  await post(1, 2, 3);
  let lastEventId: string | undefined;
  {
    using first = await openEventSource(gateway, { after: head });
    await eventually(() => first.blocks.length === 3);
    expect(first.numbers()).toEqual([1, 2, 3]);
    for (const { id, data } of first.blocks)
      expect(id).toBe((JSON.parse(data) as EventData).data.deliveries.cursor);
    lastEventId = first.blocks[1]?.id ?? '';
  }
  await post(4);
  // A browser reconnects to the same URL.
  using second = await openEventSource(gateway, { after: head, lastEventId });
  await post(5);
  await eventually(() => second.blocks.length === 3);
  expect(second.numbers()).toEqual([3, 4, 5]);
  using empty = await openEventSource(gateway, { after: head, lastEventId: '' });
  await eventually(() => empty.blocks.length === 5);
});

test('a Last-Event-ID that is no cursor ends the stream with INVALID_CURSOR, then complete', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  using stream = await openEventSource(gateway, { lastEventId: 'nonsense' });
  await stream.ended;
  const [next, complete] = stream.blocks;
  expect(stream.blocks.map(({ event }) => event)).toEqual(['next', 'complete']);
  expect((JSON.parse(next?.data ?? '') as { errors: Fault[] }).errors[0]?.extensions.code).toBe(
    'INVALID_CURSOR',
  );
  expect(complete?.data).toBe('');
  await readersToBe(gateway.url, 0);
});

test('the reader of a client that disconnects is freed', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  {
    using _stream = await openEventSource(gateway);
    await readersToBe(gateway.url, 1);
  }
  await readersToBe(gateway.url, 0);
});

test('a client that disconnects while its token is verified leaves no reader and no stream', async () => {
  const key = await issuerKey('one');
  const asked = Promise.withResolvers<void>();
  const permission = Promise.withResolvers<void>();
  const issuer = createServer(async (_request, response) => {
    asked.resolve();
    await permission.promise;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [key.jwk] }));
  }).listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  await using gateway = await startGateway({
    UPSTREAM_URL: nowhere,
    AUTH: 'jwt',
    JWT_JWKS_URL: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`,
  });
  const { hostname, port } = new URL(gateway.url);
  const body = JSON.stringify({ query: DOCUMENT });
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${await key.sign()}\r\n` +
      `Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await asked.promise;
  socket.resetAndDestroy();
  const until = async (name: string, labels: Record<string, string>, count: number) => {
    while ((await scrape(gateway.url)).sum(name, labels) !== count)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await until('gateway_http_requests_total', { route: 'graphql', status: 'none' }, 1);
  permission.resolve();
  await until('gateway_operations_total', {}, 1);
  await readersToBe(gateway.url, 0);
  expect((await scrape(gateway.url)).sum('gateway_event_streams')).toBe(0);
  issuer.close();
});

test('the client of graphql-sse subscribes, resumes, queries, and receives errors', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { head, post } = await startOf(gateway);
  const client = createClient({ url: `${gateway.url}/graphql`, retryAttempts: 0 });
  const subscription = client.iterate<EventData['data']>({ query: DOCUMENT, variables: { after: head } });
  await post(1, 2);
  const one = await subscription.next();
  const cursor = one.value?.data?.deliveries.cursor;
  expect(one.value?.data?.deliveries.node.payload.number).toBe(1);
  await subscription.return?.();
  await readersToBe(gateway.url, 0);

  const resumed = client.iterate<EventData['data']>({ query: DOCUMENT, variables: { after: cursor } });
  await post(3);
  const rest = [await resumed.next(), await resumed.next()];
  expect(rest.map(({ value }) => value?.data?.deliveries.node.payload.number)).toEqual([2, 3]);
  await resumed.return?.();

  const query = client.iterate({ query: '{ __typename }' });
  expect((await query.next()).value).toMatchObject({ data: { __typename: 'Query' } });
  expect((await query.next()).done).toBe(true);

  const wrong = client.iterate({ query: DOCUMENT, variables: { after: 'nonsense' } });
  expect((await wrong.next()).value?.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_CURSOR' });
  expect((await wrong.next()).done).toBe(true);
  const invalid = client.iterate({ query: 'subscription { nope }' });
  expect((await invalid.next()).value?.errors?.[0]?.extensions).toMatchObject({
    code: 'GRAPHQL_VALIDATION_FAILED',
  });
  client.dispose();
});

test.each([
  ['text/event-stream', '\n\n', ':', /^id: (.*)$/gm],
  ['multipart/mixed', '\r\n--graphql', '\r\ncontent-type: application/json\r\n\r\n{}', /"payload":(c\d)/g],
] as const)(
  'pings of %s are sent while there are no events, and again after the connection was full',
  async (type, between, ping, event) => {
    const frames = Array.from(
      { length: 5 },
      (_, n) => new Frame({ cursor: `c${n}`, receivedAt: 0 }, [Buffer.from(`c${n}${'x'.repeat(1000)}`)]),
    );
    const left: Frame[] = [];
    let wake = () => {};
    let isClosed = false;
    const keepAlive = createStaggeredInterval(5);
    const stream = new EventStream({
      subscription: {
        open(_after, onWake) {
          wake = onWake;
          return {
            take: () => left.shift() ?? null,
            lag: () => left.length,
            close: () => {
              isClosed = true;
            },
          };
        },
      },
      format: EVENT_FORMATS[type],
      lastEventId: null,
      mask: (error) => maskError(error, () => {}),
      expiresAt: null,
      keepAlive,
    });
    let text = '';
    const pings = () => text.split(between).filter((block) => block === ping).length;
    stream.on('data', (chunk) => {
      text += chunk;
    });
    await eventually(() => pings() >= 3);
    stream.pause();
    left.push(...frames);
    wake();
    await new Promise((resolve) => setTimeout(resolve, 30));
    // An unread stream buffers at most one event.
    expect(left.length).toBeGreaterThanOrEqual(4);
    stream.resume();
    await eventually(() => left.length === 0);
    const before = pings();
    await eventually(() => pings() >= before + 3);
    expect([...text.matchAll(event)].map(([, id]) => id)).toEqual(frames.map(({ cursor }) => cursor));
    stream.destroy();
    expect(isClosed).toBe(true);
    keepAlive.stop();
  },
);
