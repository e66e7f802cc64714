import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { deliveriesOf } from '../../support/clients/deliver.ts';
import { attack } from '../../support/clients/raw-http.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { addressOf } from '../../support/upstream/builders.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** What pages of this and of other sites may do, by what browsers say of them. */

const FRIEND = 'https://dashboard.example';
const OTHER_FRIEND = 'https://wallet.example';
const FOREIGN_ORIGIN = 'https://stranger.example';

let fake: FakeWallets;
let gateway: Gateway;
beforeAll(async () => {
  fake = await startFakeWallets();
  gateway = await startGateway({ UPSTREAM_URL: fake.url, ALLOWED_ORIGINS: `${FRIEND},${OTHER_FRIEND}` });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const QUERY = `{ wallet(address: "${addressOf(1)}") { transactions(first: 1) { nodes { hash } } } }`;
const GET = `/graphql?query=${encodeURIComponent(QUERY)}`;

type Sent = { method?: string; headers?: Record<string, string>; path?: string; body?: string };

/** By node's own client: fetch leaves out the headers that only browsers may set. */
const send = ({ method = 'GET', headers = {}, path = GET, body }: Sent, url = gateway.url) =>
  new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; body: string }>(
    (resolve, reject) => {
      request(`${url}${path}`, { method, headers: { accept: 'application/json', ...headers } })
        .on('response', async (response) => {
          const { statusCode: status, headers: answered } = response;
          resolve({ status, headers: answered, body: await text(response) });
        })
        .on('error', reject)
        .end(body);
    },
  );

/** The status that a WebSocket is answered with. */
const upgrade = (options: WebSocket.ClientOptions) =>
  new Promise<number | undefined>((resolve) => {
    const socket = new WebSocket(
      `${gateway.url.replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
      options,
    );
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('error', () => {});
  });

const POST = {
  method: 'POST',
  path: '/graphql',
  body: JSON.stringify({ query: QUERY }),
} as const;
const json = { 'content-type': 'application/json' };

describe('what a page of another site makes its visitor send is refused', () => {
  test.each<[string, Sent]>([
    ['a GET, as an image or a script has it', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ["a GET of a sibling's page", { headers: { 'sec-fetch-site': 'same-site' } }],
    ['a GET by script', { headers: { 'sec-fetch-site': 'cross-site', origin: FOREIGN_ORIGIN } }],
    ["a GET by an old browser's script", { headers: { origin: FOREIGN_ORIGIN } }],
    ['a GET from a sandboxed frame', { headers: { 'sec-fetch-site': 'cross-site', origin: 'null' } }],
    ['an event stream', { headers: { 'sec-fetch-site': 'cross-site', accept: 'text/event-stream' } }],
    [
      'a post of JSON',
      { ...POST, headers: { ...json, 'sec-fetch-site': 'cross-site', origin: FOREIGN_ORIGIN } },
    ],
    ["an old browser's post of JSON", { ...POST, headers: { ...json, origin: FOREIGN_ORIGIN } }],
    [
      'a link that is followed',
      { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } },
    ],
  ])('%s', async (_what, sent) => {
    const reply = await send(sent);
    expect(reply.body).toContain('"FORBIDDEN"');
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    expect(fake.requests).toEqual([]);
  });

  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/graphql',
  ])('a form posted as %s', async (type) => {
    const reply = await send({ ...POST, headers: { 'content-type': type } });
    expect(reply.status).toBe(415);
    expect(fake.requests).toEqual([]);
  });

  test('a WebSocket', async () => {
    expect(await upgrade({ origin: FOREIGN_ORIGIN })).toBe(403);
  });
});

describe('a page whose own name resolves to loopback is not of the gateway', () => {
  const host = 'rebound.example:4000';
  test.each<[string, Sent]>([
    ['by GET', { headers: { host } }],
    ['by GET, from a browser that attests for it', { headers: { host, 'sec-fetch-site': 'same-origin' } }],
    ['by post', { ...POST, headers: { ...json, host, origin: `http://${host}` } }],
  ])('%s', async (_what, sent) => {
    const reply = await send(sent);
    expect(reply.status).toBe(403);
    expect(fake.requests).toEqual([]);
  });

  test('by WebSocket', async () => {
    expect(await upgrade({ origin: `http://${host}`, headers: { host } })).toBe(403);
    expect(await upgrade({ origin: 'http://localhost:4000', headers: { host: 'localhost:4000' } })).toBe(101);
  });

  test.each(['/metrics', '/health/ready', '/health/live', '/', '/console/x/index.js', '/nothing'])(
    'at %s',
    async (path) => {
      const refused = await send({ path, headers: { host, accept: 'text/html' } });
      expect(refused).toMatchObject({ status: 403, headers: { 'x-frame-options': 'DENY' } });
      expect(JSON.parse(refused.body)).toEqual({ error: expect.stringContaining(host) });
      expect((await send({ path, headers: { accept: 'text/html' } })).status).not.toBe(403);
    },
  );

  test('at the page of GraphiQL', async () => {
    const opened = (headers: Record<string, string>) =>
      send({ path: '/graphql', headers: { accept: 'text/html,*/*;q=0.8', ...headers } });
    const refused = await opened({ host });
    expect(refused.status).toBe(403);
    expect(refused.body).toContain(host);
    expect((await opened({})).headers['content-type']).toBe('text/html');
  });

  test('but a probe without a name is answered, as by HTTP/1.0', async () => {
    const said = await attack(
      gateway.url,
      (socket) => void socket.write('GET /health/ready HTTP/1.0\r\n\r\n'),
    );
    expect(said).toMatch(/^HTTP\/1.1 200 /);
  });

  test('a delivery is judged by its token alone', async () => {
    const { pathname } = new URL((await deliveriesOf(gateway.url)).deliveryUrl);
    const deliver = (path: string) => send({ ...POST, path, headers: { host }, body: '{}' });
    expect((await deliver(pathname)).status).toBe(200);
    expect((await deliver(`${pathname}x`)).status).toBe(404);
  });

  test.each(['localhost:4000', 'gateway.localhost', '127.0.0.1', '[::1]:4000', 'gateway.example'])(
    'but %s means the gateway',
    async (own) => {
      await using named = await startGateway({
        UPSTREAM_URL: fake.url,
        PUBLIC_URL: 'https://gateway.example',
      });
      expect((await send({ headers: { host: own } }, named.url)).status).toBe(200);
      fake.requests.length = 0;
    },
  );

  test('and any name does for a gateway that others reach', async () => {
    await using reachable = await startGateway({ UPSTREAM_URL: fake.url, HOST: '0.0.0.0', AUTH: 'open' });
    const { port } = new URL(reachable.url);
    expect((await send({ headers: { host } }, `http://127.0.0.1:${port}`)).status).toBe(200);
    fake.requests.length = 0;
    // Probes ask by the address of a pod or a machine.
    for (const path of ['/metrics', '/health/ready', '/health/live'])
      for (const named of ['10.1.2.3:4000', 'gateway-1.internal']) {
        const probed = await send({ path, headers: { host: named } }, `http://127.0.0.1:${port}`);
        expect(probed.status).toBe(200);
      }
  });
});

describe('an allowed request is accepted', () => {
  test.each<[string, Sent]>([
    ['from no browser', {}],
    ['typed into the address bar', { headers: { 'sec-fetch-site': 'none' } }],
    ["from the gateway's own page", { headers: { 'sec-fetch-site': 'same-origin' } }],
    [
      "by post from the gateway's own page",
      { ...POST, headers: { ...json, 'sec-fetch-site': 'same-origin' } },
    ],
    ['from an allowed origin', { headers: { 'sec-fetch-site': 'cross-site', origin: FRIEND } }],
    ['by post from an allowed origin', { ...POST, headers: { ...json, origin: OTHER_FRIEND } }],
  ])('%s', async (_what, sent) => {
    const reply = await send(sent);
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body).errors).toBeUndefined();
  });

  test('behind a proxy that gives the gateway another name, from pages of PUBLIC_URL', async () => {
    await using behind = await startGateway({
      UPSTREAM_URL: fake.url,
      PUBLIC_URL: 'https://gateway.example/',
    });
    const reply = await send({ headers: { origin: 'https://gateway.example' } }, behind.url);
    expect(reply.status).toBe(200);
  });
});

describe('a preflight is answered', () => {
  const preflight = (origin: string) =>
    send({
      method: 'OPTIONS',
      path: '/graphql',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });

  test.each([FRIEND, OTHER_FRIEND])('for %s', async (origin) => {
    const { headers } = await preflight(origin);
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '3600',
    });
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });

  test.each([FOREIGN_ORIGIN, 'null', `${FRIEND}.stranger.example`])('not for %s', async (origin) => {
    const { headers } = await preflight(origin);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });

  test('for nobody without ALLOWED_ORIGINS', async () => {
    await using closed = await startGateway({ UPSTREAM_URL: fake.url });
    const { headers } = await send(
      { method: 'OPTIONS', path: '/graphql', headers: { origin: FRIEND } },
      closed.url,
    );
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test.each(['/graphql', GET, '/health/live', '/health/ready', '/deliveries/a/b', '/nothing'])(
  'an answer on %s may not be kept, guessed at, framed or shown elsewhere',
  async (path) => {
    const { headers } = await send({ path });
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  },
);

test('GraphiQL may run its own script and talk to its own gateway', async () => {
  const { headers } = await send({ path: '/graphql', headers: { accept: 'text/html' } });
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(/script-src 'sha256-[^']+'/);
  expect(policy).toContain("frame-ancestors 'none'");
});
