import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { startGateway } from '../../support/gateway/start.ts';

/** Yields server-sent events as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<{ event: string; data: string }> {
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
      if (fields.event !== undefined) yield { event: fields.event, data: fields.data ?? '' };
    }
  }
}

const listen = (url: string, after: string | null, signal: AbortSignal) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({
      query: 'subscription ($after: String) { deliveries(after: $after) { cursor node { payload } } }',
      variables: { after },
    }),
    signal,
  });

type EventData = { data: { deliveries: { cursor: string; node: { payload: ReturnType<typeof activity> } } } };

const take = async (response: Response, count: number): Promise<EventData[]> => {
  const received: EventData[] = [];
  for await (const { event, data } of eventsOf(response)) {
    expect(event).toBe('next');
    received.push(JSON.parse(data));
    if (received.length === count) break;
  }
  return received;
};

const blockOf = ({ data }: EventData) => data.deliveries.node.payload.activities[0]?.block_number;

test('an event stream carries deliveries, and resumes after a cursor without a gap', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: 'http://127.0.0.1:9' });
  const { deliveryUrl, deliveries } = await gateway.data<{
    deliveryUrl: string;
    deliveries: { head: string };
  }>('{ deliveryUrl deliveries { head } }');
  const first = new AbortController();
  const stream = await listen(gateway.url, deliveries.head, first.signal);
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  expect(stream.headers.get('cache-control')).toBe('no-store, no-transform');
  await deliver(deliveryUrl, { body: activity(1) });
  const [received] = await take(stream, 1);
  expect(received && blockOf(received)).toBe(1);
  first.abort();
  await deliver(deliveryUrl, { body: activity(2) });
  const second = new AbortController();
  const resumed = await listen(gateway.url, received?.data.deliveries.cursor ?? null, second.signal);
  await deliver(deliveryUrl, { body: activity(3) });
  expect((await take(resumed, 2)).map(blockOf)).toEqual([2, 3]);
  second.abort();
});

test('an empty Last-Event-ID means that no event was received yet', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: 'http://127.0.0.1:9' });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const leave = new AbortController();
  const stream = await fetch(
    `${gateway.url}/graphql?query=${encodeURIComponent('subscription { deliveries { cursor node { payload } } }')}`,
    { headers: { accept: 'text/event-stream', 'last-event-id': '' }, signal: leave.signal },
  );
  await deliver(deliveryUrl, { body: activity(1) });
  expect((await take(stream, 1)).map(blockOf)).toEqual([1]);
  leave.abort();
});

test('a gateway that stops ends its event streams without a complete event', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: 'http://127.0.0.1:9' });
  const stream = await listen(gateway.url, null, AbortSignal.timeout(30_000));
  const events: string[] = [];
  const reading = (async () => {
    for await (const { event } of eventsOf(stream)) events.push(event);
  })();
  const cut = expect(reading).rejects.toThrow();
  await gateway.stop();
  await cut;
  expect(events).toEqual([]);
});

test('a subscription by a client that does not accept event streams is answered with 406', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: 'http://127.0.0.1:9' });
  const reply = await gateway.query('subscription { deliveries { cursor } }');
  expect(reply.status).toBe(406);
  expect(reply.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
});

test('a client that asks for its connection to be closed has it closed', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: 'http://127.0.0.1:9' });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  socket.write(
    'GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n',
  );
  const answer = (await socket.toArray()).join('');
  expect(answer).toMatch(/^connection: close\r$/im);
  expect(answer).toContain('event: complete');
});
