import { createHash, createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { byEventStream, byWebSocket } from '../../support/clients/load-client.ts';
import { type Attack, attack, crowd, forever, head, send, upgrade } from '../../support/clients/raw-http.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

/** What can be done to the gateway by who poses as the service. */

const MEGABYTE = 1024 * 1024;
const SECRET = 'signs-deliveries-8d0e44';
const SIGNED = { DELIVERY_SIGNATURE_SECRET: SECRET, DELIVERY_SIGNATURE_HEADER: 'x-signature' };
const CLOSE = 'connection: close';
const CHUNKED = 'transfer-encoding: chunked';
const GZIP = 'content-encoding: gzip';

const signatureOf = (body: string | Uint8Array, secret = SECRET) =>
  createHmac('sha256', secret).update(body).digest('hex');

const post = (path: string, body: string | Uint8Array, ...headers: string[]): Attack => {
  const bytes = Buffer.from(body);
  return send(head(`POST ${path}`, `content-length: ${bytes.length}`, CLOSE, ...headers), bytes);
};

const WEBHOOK = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';
const HALF = Buffer.alloc(3 * MEGABYTE, ' ');
const ignore = () => {};
const BODY = JSON.stringify(activity(1));

type Row = [what: string, how: (path: string) => Attack, status: number];

/** A good delivery to where its url leads once it is changed. */
const to = (change: (path: string) => string) => (path: string) => post(change(path), BODY);
const withToken = (token: string) => to((path) => path.replace(/[^/]+$/, token));
const withTenant = (tenant: string) => to((path) => path.replace('/default/', `/${tenant}/`));

/** A body to where deliveries go. */
const bearing =
  (body: string | Uint8Array, ...headers: string[]) =>
  (path: string) =>
    post(path, body, ...headers);

/** Differs in bits that base64 leaves out. */
const respelled = (path: string) =>
  `${path.slice(0, -1)}${String.fromCharCode(path.charCodeAt(path.length - 1) + 1)}`;

const guessed = createHmac('sha256', 'default').update('delivery-url:1:default').digest('base64url');

const refused: Row[] = [
  ['a token that is short of a character', to((path) => path.slice(0, -1)), 404],
  ['a token with one more', to((path) => `${path}A`), 404],
  ['a token in another spelling', to((path) => `${path}=`), 404],
  ['a token that says the same with other bits', to(respelled), 404],
  ['no token', withToken(''), 404],
  ['a token of zeros', withToken('A'.repeat(43)), 404],
  ['a token signed with what everybody knows', withToken(guessed), 404],
  ['more behind the token', to((path) => `${path}/..`), 404],
  ["another tenant's name", withTenant('other'), 404],
  ["a tenant's name of the prototype", withTenant('__proto__'), 404],
  ["a tenant's name that climbs", withTenant('x%2f..%2fdefault'), 404],
  ["a tenant's name twice", withTenant('x/../default'), 404],
  ["a tenant's name with a line break", withTenant('default%0d%0a'), 404],
  ["a tenant's name that is no UTF-8", withTenant('%ff'), 404],
  ['a GET', (path) => send(head(`GET ${path}`, CLOSE)), 405],
  ['a WebSocket', (path) => send(upgrade(path)), 404],
  ['a gzip bomb', bearing(gzipSync(Buffer.alloc(200 * MEGABYTE, ' ')), GZIP), 413],
  ['a gzip bomb in another', bearing(gzipSync(gzipSync(Buffer.alloc(200 * MEGABYTE))), GZIP), 400],
  ['what says that it is gzip', bearing(BODY, GZIP), 400],
  ['half of what is gzip', bearing(gzipSync(BODY).subarray(0, 40), GZIP), 400],
  ['gzip of gzip that says so', bearing(gzipSync(gzipSync(BODY)), 'content-encoding: gzip, gzip'), 415],
  [
    'a body without end',
    (path) => forever(head(`POST ${path}`, CHUNKED), `10000\r\n${'x'.repeat(0x10000)}\r\n`),
    413,
  ],
  [
    'a body that says that it is too large',
    (path) => send(head(`POST ${path}`, 'content-length: 9000000')),
    413,
  ],
  ['a body with two lengths', bearing(BODY, 'content-length: 5'), 400],
  ['a body with a length and chunks', bearing(BODY, CHUNKED), 400],
  ['no JSON', bearing('{"a":'), 400],
  ['no object', bearing('"text"'), 400],
];

const forgedSignatures: [what: string, signature: string][] = [
  ['of nothing', ''],
  ['of another secret', signatureOf(BODY, 'another')],
  ['of no secret', signatureOf(BODY, '')],
  ['of another body', signatureOf(`${BODY} `)],
  ['in half', signatureOf(BODY).slice(0, 32)],
  ['twice', `${signatureOf(BODY)},${signatureOf(BODY)}`],
  ['that is a hash', createHash('sha256').update(BODY).digest('hex')],
  ['that is the secret', SECRET],
];

const read = '{ deliveries { edges { cursor } } }';
type Read = { deliveries: { edges: { cursor: string }[] } };

describe('the shipped process', () => {
  let shipped: Shipped;
  let url: string;
  let path: string;
  let before: number;
  /** The cursors that subscribers receive. */
  const received = { socket: [] as string[], stream: [] as string[] };
  const cuts: (() => void)[] = [];
  beforeAll(async () => {
    shipped = await startGatewayProcess();
    before = await shipped.megabytes();
    const { deliveryUrl, head: end } = await deliveriesOf(shipped.url);
    url = deliveryUrl;
    path = new URL(url).pathname;
    cuts.push(byWebSocket(shipped.url, end, (cursor) => received.socket.push(cursor), ignore));
    cuts.push(byEventStream(shipped.url, end, (cursor) => received.stream.push(cursor), ignore));
    await readersToBe(shipped.url, 2);
  });
  afterAll(() => {
    for (const cut of cuts) cut();
    return shipped[Symbol.asyncDispose]();
  });

  test.each(refused)('refuses %s', async (_what, how, status) => {
    expect(await attack(shipped.url, how(path))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test('holds no more unfinished bodies at a time than it has room for', async () => {
    const half = send(head(`POST ${path}`, `content-length: ${5 * MEGABYTE}`), HALF);
    using senders = crowd(shipped.url, 60, half);
    await eventually(() => senders.answers.length === 60 - 21);
    for (const answer of senders.answers) expect(answer).toMatch(/^HTTP\/1.1 503 .*retry-after: \d+/is);
    expect((await shipped.megabytes()) - before).toBeLessThan(256);
  });

  test('stores once what comes again and again', async () => {
    const again = (attempt: number) => deliver(url, { webhookId: WEBHOOK, attempt, body: BODY });
    const statuses = await Promise.all(Array.from({ length: 20 }, (_, attempt) => again(attempt)));
    statuses.push(await again(0));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('shows what was not refused, once, on every transport', async () => {
    expect(await deliver(url, { webhookId: WEBHOOK, body: activity(2) })).toBe(200);
    await eventually(() => received.socket.length >= 2 && received.stream.length >= 2);
    for (const [, ask] of TRANSPORTS) {
      const { deliveries } = (await ask(shipped.url, { query: read })).data as Read;
      const cursors = deliveries.edges.map(({ cursor }) => cursor);
      expect(cursors).toHaveLength(2);
      expect(received).toEqual({ socket: cursors, stream: cursors });
    }
  });

  test('is as it was after all of them', async () => {
    expect((await shipped.megabytes()) - before).toBeLessThan(256);
    const warnings = shipped.lines.filter((line) => !/^\{"level":"(info|debug)"/.test(line));
    expect(warnings).toEqual([expect.stringContaining('deliveries refused: no memory for their bodies')]);
    // The one webhook that was named was asked about, once.
    expect(shipped.fake.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /beta/evm/subscriptions/webhooks/${WEBHOOK}/addresses`,
    ]);
  });

  test('takes a signed delivery once, and none with a signature that is forged', async () => {
    await using careful = await startGatewayProcess(SIGNED);
    const { deliveryUrl } = await deliveriesOf(careful.url);
    const { pathname } = new URL(deliveryUrl);
    const bring = (signature: string | null, at = pathname) =>
      attack(careful.url, post(at, BODY, ...(signature === null ? [] : [`x-signature: ${signature}`])));
    for (const [what, signature] of forgedSignatures)
      expect(await bring(signature), what).toMatch(/^HTTP\/1.1 401 .*"expected a valid signature"/s);
    expect(await bring(null)).toMatch(/^HTTP\/1.1 401 /);
    expect(await bring(signatureOf(BODY))).toMatch(/{"duplicate":false}$/);
    expect(await bring(signatureOf(BODY))).toMatch(/{"duplicate":true}$/);
    expect(await bring(signatureOf(BODY), `${pathname}x`)).toMatch(/^HTTP\/1.1 404 /);
    for (const [, ask] of TRANSPORTS)
      expect((await ask(careful.url, { query: read })).data).toMatchObject({ deliveries: { edges: [{}] } });
    expect(careful.fake.requests).toEqual([]);
  });
});
