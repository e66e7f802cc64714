import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Attack,
  attack,
  crowd,
  forever,
  head,
  json,
  send,
  upgrade,
} from '../../support/clients/raw-http.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { addressOf } from '../../support/upstream/builders.ts';

/** What can be done to the gateway with a socket of one's own. */

const LOOKUP = `{ wallet(address: "${addressOf(1)}") { transactions { nodes { hash } } } }`;
const ASKED = `query=${encodeURIComponent(LOOKUP)}`;
const STRICT = 'accept: application/graphql-response+json';
const CLOSE = 'connection: close';
const FOREIGN_ORIGIN = 'origin: https://stranger.example';
const REBOUND = ['host: rebound.example', 'origin: http://rebound.example'];
const MEGABYTE = 1024 * 1024;

const get = (query: string, ...headers: string[]) => send(head(`GET /graphql?${query}`, ...headers, CLOSE));
/** An event stream keeps its connection, so that another request has to close it. */
const stream = (query: string, ...headers: string[]) =>
  send(
    head(`GET /graphql?${query}`, 'accept: text/event-stream', ...headers),
    head('GET /health/live', CLOSE),
  );

/** Of a body of 8 MB. */
const PART = Buffer.alloc(7 * MEGABYTE, ' ');
const PART_IN_CHUNKS = Buffer.concat([Buffer.from(`${PART.length.toString(16)}\r\n`), PART]);
const CHUNKED = 'transfer-encoding: chunked';

/** A post as it should be, but for its body and these headers. */
const post = (body: unknown, ...headers: string[]): Attack => {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return send(json(STRICT, CLOSE, `content-length: ${bytes.length}`, ...headers), bytes);
};
const form = (...headers: string[]): Attack =>
  send(head('POST /graphql', `content-length: ${LOOKUP.length + 6}`, CLOSE, ...headers), `query=${LOOKUP}`);
const bomb = (): Attack => {
  const bytes = gzipSync(Buffer.alloc(200 * MEGABYTE, ' '));
  return send(json('content-encoding: gzip', `content-length: ${bytes.length}`, CLOSE), bytes);
};

const quick: [what: string, how: Attack, status: number][] = [
  ['a giant header', send(json(`x: ${'x'.repeat(20_000)}`)), 431],
  ['a giant query string', get(`query=${'x'.repeat(20_000)}`), 431],
  ['ten thousand headers', send(json(...Array(10_000).fill('x: y'))), 431],
  ['headers without end', forever('POST /graphql HTTP/1.1\r\n', 'x: y\r\n'.repeat(100)), 431],
  [
    'a body without end',
    forever(json('transfer-encoding: chunked'), `10000\r\n${'x'.repeat(0x10000)}\r\n`),
    413,
  ],
  ['a body that says that it is too large', send(json('content-length: 9000000')), 413],
  ['a body with no length that one can read', send(json('content-length: 1e9')), 400],
  ['a body with two lengths', send(json('content-length: 5', 'content-length: 6')), 400],
  ['a body with a length and chunks', send(json('content-length: 5', 'transfer-encoding: chunked')), 400],
  ['a gzip bomb', bomb(), 415],
  ['a form', form('content-type: application/x-www-form-urlencoded'), 415],
  ['a form of text', form('content-type: text/plain'), 415],
  ['a form of parts', form('content-type: multipart/form-data; boundary=x'), 415],
  ['a form of no type', form(), 415],
  ['a mutation by GET', get('query=mutation%7B__typename%7D', STRICT), 405],
  ['a mutation by GET as an event stream', stream('query=mutation%7B__typename%7D'), 405],
  ['a post of another site', post({ query: LOOKUP }, FOREIGN_ORIGIN), 403],
  ['a GET of another site', get(ASKED, STRICT, 'sec-fetch-site: cross-site'), 403],
  ['an event stream of another site', stream(ASKED, 'sec-fetch-site: cross-site'), 403],
  ['a WebSocket of another site', send(upgrade('/graphql', FOREIGN_ORIGIN)), 403],
  ['a WebSocket of a sandboxed frame', send(upgrade('/graphql', 'origin: null')), 403],
  ['a page whose name leads here', post({ query: LOOKUP }, ...REBOUND), 403],
  ['a WebSocket of a page whose name leads here', send(upgrade('/graphql', ...REBOUND)), 403],
  ['a batch', post([{ query: LOOKUP }, { query: LOOKUP }]), 400],
  ['a document of 2 MB', post({ query: `{${' a'.repeat(MEGABYTE)}}` }), 400],
  ['variables that are a list', post({ query: LOOKUP, variables: [1] }), 400],
  ['variables by GET that are no JSON', get('query=%7B__typename%7D&variables=x', STRICT), 400],
  ['a list that no stack can hold', post(`${'['.repeat(200_000)}${']'.repeat(200_000)}`), 400],
  ['a list of three million lists', post(`${'['.repeat(3 * MEGABYTE)}${']'.repeat(3 * MEGABYTE)}`), 413],
  ['a path that climbs', send(head('GET /deliveries/../../graphql/..%2f..%2fetc%2fpasswd', CLOSE)), 404],
  ['a path that climbs, for a WebSocket', send(upgrade('/graphql/..%2f..%2fdeliveries')), 404],
  ['two hosts', send(head('GET /graphql?query=%7B__typename%7D', 'host: localhost', 'host: localhost')), 400],
  ['two hosts, of a probe', send(head('GET /health/live', 'host: a', 'HOST: b')), 400],
  ['two hosts, for a delivery', send(head('POST /deliveries/a/b', 'host: a', 'host: b')), 400],
  ['two hosts, for a WebSocket', send(upgrade('/graphql', 'host: localhost', 'host: localhost')), 400],
  ['chunks of something, for a WebSocket', send(upgrade('/graphql', 'transfer-encoding: gzip')), 501],
  ['no host', send('GET /health/live HTTP/1.1\r\n\r\n'), 400],
  ['a host of two', send(head('GET /health/live', 'host: a, b c')), 400],
  ['a host with a path', send(head('GET /health/live', 'host: a/b')), 400],
  ['chunks that are said twice', send(json(CHUNKED, CHUNKED), '0\r\n\r\n'), 400],
  ['chunks by HTTP/1.0', send('POST /graphql HTTP/1.0\r\nhost: a\r\n', `${CHUNKED}\r\n\r\n0\r\n\r\n`), 400],
  ['chunks of something', send(json('transfer-encoding: gzip, chunked'), '0\r\n\r\n'), 501],
  ['a length after a space', send(json('content-length : 2'), '{}'), 400],
  ['lines that end otherwise', send('GET /health/live HTTP/1.1\nhost: a\n\n'), 400],
  ['another HTTP', send('GET /health/live HTTP/2.0\r\nhost: a\r\n\r\n'), 505],
  ['an old HTTP', send('GET /health/live\r\n\r\n'), 505],
  ['no HTTP', send('\u0016\u0003\u0001\u0002\r\n\r\n'), 400],
];

describe('the shipped process asks nothing of the service for', () => {
  let shipped: Shipped;
  let before: number;
  beforeAll(async () => {
    shipped = await startGatewayProcess();
    before = await shipped.megabytes();
  });
  afterAll(() => shipped[Symbol.asyncDispose]());

  // None of them is 408: they are refused for what they are, and not because they did not arrive in time.
  test.each(quick)('%s', async (_what, how, status) => {
    expect(await attack(shipped.url, how)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(shipped.fake.requests).toEqual([]);
  });

  test('all of them together, and is as it was', async () => {
    expect((await shipped.megabytes()) - before).toBeLessThan(256);
    expect(shipped.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line))).toEqual([]);
    const response = await fetch(`${shipped.url}/graphql?query=%7B__typename%7D`);
    expect(await response.json()).toMatchObject({ data: { __typename: 'Query' } });
    expect(response.headers.get('keep-alive')).toBe('timeout=65');
  });

  test('unfinished bodies, of which no more are held at a time than there is room for', async () => {
    const start = await shipped.megabytes();
    const senders = crowd(shipped.url, 60, send(json(STRICT, `content-length: ${8 * MEGABYTE}`), PART));
    const others = crowd(shipped.url, 60, send(json(STRICT, CHUNKED), PART_IN_CHUNKS));
    await eventually(() => senders.answers.length + others.answers.length >= 100);
    for (const answer of [...senders.answers, ...others.answers])
      expect(answer).toMatch(/^HTTP\/1.1 503 .*retry-after: \d+.*"OPERATION_TOO_COMPLEX"/is);
    // Sent were 840.
    expect((await shipped.megabytes()) - start).toBeLessThan(420);
    expect(await attack(shipped.url, post({ query: '{ __typename }' }))).toMatch(/^HTTP\/1.1 200 /);
    for (const crowded of [senders, others]) crowded[Symbol.dispose]();
    const big = post({ query: '{ __typename }', variables: { big: 'x'.repeat(7 * MEGABYTE) } });
    await expect.poll(() => attack(shipped.url, big)).toMatch(/^HTTP\/1.1 200 /);
    for (let number = 0; number < 10; number += 1)
      expect(await attack(shipped.url, big)).toMatch(/^HTTP\/1.1 200 /);
    expect(shipped.fake.requests).toEqual([]);
  });
});

test('an offer of HTTP/2 keeps nobody from being answered in HTTP/1.1', async () => {
  await using shipped = await startGatewayProcess();
  const offer = [
    'connection: upgrade, http2-settings, close',
    'upgrade: h2c',
    'http2-settings: AAMAAABkAAQAoAAAAAIAAAAA',
  ];
  const { data } = await (await fetch(`${shipped.url}/graphql?query=%7BdeliveryUrl%7D`)).json();
  const { pathname } = new URL(data.deliveryUrl);
  const delivery = send(head(`POST ${pathname}`, 'content-length: 2', ...offer), '{}');
  expect(await attack(shipped.url, delivery)).toMatch(/^HTTP\/1.1 200 .*{"duplicate":false}$/s);
  expect(await attack(shipped.url, get('query=%7B__typename%7D', ...offer))).toMatch(/^HTTP\/1.1 200 /);
});

test('a target that names the host as well is understood, and is the host that counts', async () => {
  await using shipped = await startGatewayProcess();
  const to = (host: string, path: string) =>
    send(head(`GET http://${host}${path}`, 'host: localhost', CLOSE));
  for (const path of ['/health/live', '/graphql?query=%7B__typename%7D'])
    expect(await attack(shipped.url, to('localhost', path))).toMatch(/^HTTP\/1.1 200 /);
  expect(await attack(shipped.url, to('rebound.example', '/graphql?query=%7B__typename%7D'))).toMatch(
    /^HTTP\/1.1 403 /,
  );
  expect(await attack(shipped.url, to('localhost', '?query'))).toMatch(/^HTTP\/1.1 404 /);
});
