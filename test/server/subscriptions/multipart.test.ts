import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { listenToEvents } from '../../support/clients/event-stream.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, expiringSoon, tokenOf } from '../../support/gateway/tokens.ts';

/** Subscriptions by Apollo's multipart protocol, byte by byte. */

const DOCUMENT = 'subscription { deliveries { cursor node { payload } } }';
const ACCEPT = 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ UPSTREAM_URL: nowhere });
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** The JSON in each part that a boundary has ended. */
const partsIn = (text: string): unknown[] => {
  const [preamble, ...rest] = text.split('\r\n--graphql');
  expect(preamble).toBe('');
  return rest.slice(0, -1).map((part) => {
    const [, json = ''] = /^\r\ncontent-type: application\/json\r\n\r\n(.*)$/s.exec(part) ?? [];
    return JSON.parse(json);
  });
};

test('events are parts, each with the boundary behind it, and the first is an empty one', async () => {
  const { deliveryUrl, head } = await deliveriesOf(gateway.url);
  using stream = await listenToEvents(gateway.url, DOCUMENT, { accept: ACCEPT, 'last-event-id': head });
  expect(stream.response.headers).toMatchObject({
    'content-type': 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  await eventually(() => stream.text() !== '');
  expect(partsIn(stream.text())).toEqual([{}]);
  const payload = { text: '\r\n--graphql--\r\n', big: 'x'.repeat(100_000) };
  expect(await deliver(deliveryUrl, { body: payload })).toBe(200);
  await eventually(() => partsIn(stream.text()).length === 2);
  expect(partsIn(stream.text())[1]).toMatchObject({
    payload: { data: { deliveries: { node: { payload } } } },
  });
  const figures = await scrape(gateway.url);
  expect(figures.sum('gateway_event_streams')).toBe(1);
  expect(figures.sum('gateway_operations_total', { type: 'subscription', transport: 'multipart' })).toBe(1);
});

test.each([
  ['a cursor that is none', {}, { 'last-event-id': 'nonsense' }, 'INVALID_CURSOR'],
  ['a token that expires', byToken, null, 'UNAUTHENTICATED'],
])('%s ends the response with its error beside a payload of null', async (_what, env, headers, code) => {
  await using own = await startGateway({ UPSTREAM_URL: nowhere, ...env });
  const sent = headers ?? bearer(await tokenOf(expiringSoon()));
  using stream = await listenToEvents(own.url, DOCUMENT, { accept: ACCEPT, ...sent });
  await stream.ended;
  const text = stream.text();
  expect(text.endsWith('\r\n--graphql--\r\n')).toBe(true);
  expect(partsIn(text).at(-1)).toEqual({
    payload: null,
    errors: [{ message: expect.any(String), extensions: expect.objectContaining({ code }) }],
  });
});

test.each([
  // Apollo Client, Apollo iOS, Apollo Kotlin, Apollo's adapters, and curl as docs write it.
  [
    'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9',
    'multipart/mixed',
  ],
  [
    'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/graphql-response+json,application/json',
    'multipart/mixed',
  ],
  [
    'multipart/mixed;subscriptionSpec=1.0, application/graphql-response+json, application/json',
    'multipart/mixed',
  ],
  ['multipart/mixed; boundary = "graphql" ; subscriptionSpec="1.0", application/json', 'multipart/mixed'],
  ['Multipart/Mixed;SubscriptionSpec=1.0', 'multipart/mixed'],
  ['multipart/mixed;subscriptionSpec=1.0, */*', 'multipart/mixed'],
  ['text/event-stream;q=0.5, multipart/mixed;subscriptionSpec=1.0;q=0.9', 'multipart/mixed'],
  ['multipart/mixed;subscriptionSpec=1.0;q=0.5, text/event-stream', 'text/event-stream'],
  ['multipart/mixed;subscriptionSpec=1.0;q=0, text/event-stream;q=0.1', 'text/event-stream'],
  ['text/event-stream, multipart/mixed;subscriptionSpec=1.0', 'text/event-stream'],
  // urql names no protocol of parts.
  ['text/event-stream, multipart/mixed', 'text/event-stream'],
  ['*/*', 'text/event-stream'],
])('who accepts %s gets %s', async (accept, type) => {
  using stream = await listenToEvents(gateway.url, DOCUMENT, { accept });
  expect(stream.response.statusCode).toBe(200);
  expect(stream.response.headers['content-type']).toContain(type);
});

test.each([
  ['multipart/mixed;subscriptionSpec=2.0, application/json', 406, 'BAD_USER_INPUT'],
  ['multipart/mixed;deferSpec=20220824, application/json', 406, 'BAD_USER_INPUT'],
  ['multipart/mixed;subscriptionSpec=1.0;q=0, application/json', 406, 'BAD_USER_INPUT'],
])('who accepts %s gets no events', async (accept, status, code) => {
  const response = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent(DOCUMENT)}`, {
    headers: { accept },
  });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code } }] });
});

test.each([[ACCEPT], ['multipart/mixed;subscriptionSpec=1.0']])(
  'what ends an operation before its first event, and a query, is JSON for who accepts %s',
  async (accept) => {
    const ask = async (query: string) => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { accept, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      expect(response.headers.get('content-type')).toContain('application/json');
      return response.json();
    };
    expect(await ask('subscription { nothing }')).toMatchObject({
      errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    });
    expect(await ask('{ __typename ... @defer { a: __typename } }')).toMatchObject({
      data: { __typename: 'Query', a: 'Query' },
    });
  },
);
