import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';

/** The refusal of a page names its origin and ALLOWED_ORIGINS, the setting that would admit it. */

const FOREIGN_ORIGIN = 'https://stranger.example';
const LOOPBACK = ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:8080', 'https://localhost'];

type Sent = { method?: string; headers?: Record<string, string>; path?: string; body?: string };
type Came = { status: number | undefined; allowed: unknown; body: string };

const json = { 'content-type': 'application/json' };
const query = '{ deliveries { head } }';
const subscription = 'subscription { deliveries { cursor } }';
const post: Sent = { method: 'POST', headers: json, body: JSON.stringify({ query }) };
const get: Sent = { path: `/graphql?query=${encodeURIComponent(query)}` };
const stream: Sent = {
  path: `/graphql?query=${encodeURIComponent(subscription)}`,
  headers: { accept: 'text/event-stream' },
};
const preflight: Sent = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } };

/** Uses Node's own client: fetch leaves out the headers that only browsers may set. The body of a stream is not read. */
const send = (url: string, origin: string, { method = 'GET', headers, path = '/graphql', body }: Sent) =>
  new Promise<Came>((resolve, reject) => {
    request(`${url}${path}`, { method, headers: { accept: 'application/json', origin, ...headers } })
      .on('response', async (response) => {
        const { statusCode: status, headers: answered } = response;
        const allowed = answered['access-control-allow-origin'];
        const isStream = answered['content-type']?.startsWith('text/event-stream') && status === 200;
        resolve({ status, allowed, body: isStream ? '' : await text(response) });
        if (isStream) response.destroy();
      })
      .on('error', reject)
      .end(body);
  });

const upgrade = (url: string, origin: string) =>
  new Promise<Came>((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { origin });
    socket.on('unexpected-response', async (_request, response) =>
      resolve({ status: response.statusCode, allowed: null, body: await text(response) }),
    );
    socket.on('open', () => {
      socket.terminate();
      resolve({ status: 101, allowed: origin, body: '' });
    });
    socket.on('error', () => {});
  });

const WAYS: [string, (url: string, origin: string) => Promise<Came>][] = [
  ['a post', (url, origin) => send(url, origin, post)],
  ['a GET', (url, origin) => send(url, origin, get)],
  ['an event stream', (url, origin) => send(url, origin, stream)],
  ['a preflight', (url, origin) => send(url, origin, preflight)],
  ['a WebSocket', upgrade],
];

const refusalsIn = ({ logLines }: Gateway) =>
  logLines.map((line) => JSON.parse(line)).filter(({ msg }) => /origin/.test(msg));

describe.each(WAYS)('%s of a page of another origin', (_way, come) => {
  test('is rejected with its origin and ALLOWED_ORIGINS in the error and in the log', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const { status, allowed, body } = await come(gateway.url, FOREIGN_ORIGIN);
    expect(status).toBe(403);
    expect(allowed ?? null).toBeNull();
    expect(body).toContain(FOREIGN_ORIGIN);
    expect(body).toContain('ALLOWED_ORIGINS');
    const lines = refusalsIn(gateway);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 'info', origin: FOREIGN_ORIGIN });
    expect(JSON.stringify(lines[0])).toContain('ALLOWED_ORIGINS');
  });

  test('can neither lengthen the answer and the log at will, nor write into them', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const origin = `https://"},{"x":"\t${'y'.repeat(5000)}`;
    const { status, body } = await come(gateway.url, origin);
    expect(status).toBe(403);
    expect(body.length).toBeLessThan(1000);
    expect(() => JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))).not.toThrow();
    const [line] = refusalsIn(gateway);
    expect(JSON.stringify(line).length).toBeLessThan(1000);
    expect(line).not.toHaveProperty('x');
  });

  test('is accepted when ALLOWED_ORIGINS has it', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ALLOWED_ORIGINS: FOREIGN_ORIGIN });
    const { status, allowed } = await come(gateway.url, FOREIGN_ORIGIN);
    expect(status).toBeLessThan(300);
    expect(allowed).toBe(FOREIGN_ORIGIN);
    expect(refusalsIn(gateway)).toEqual([]);
  });

  test('is accepted over the sandbox in development when it is of this machine, and only then', async () => {
    await using sandboxed = await startGateway();
    for (const origin of LOOPBACK) {
      const { status, allowed } = await come(sandboxed.url, origin);
      expect([status && status < 300, allowed]).toEqual([true, origin]);
    }
    for (const origin of [FOREIGN_ORIGIN, 'null', 'http://localhost.stranger.example', 'file://localhost'])
      expect((await come(sandboxed.url, origin)).status).toBe(403);
  });

  test.each([
    ['over a service', { UPSTREAM_URL: nowhere }],
    ['over a service that is open to all', { UPSTREAM_URL: nowhere, AUTH: 'open' }],
    ['in production', { NODE_ENV: 'production', SANDBOX: 'on' }],
  ])('is not accepted %s for being of this machine', async (_where, env) => {
    await using gateway = await startGateway(env);
    for (const origin of LOOPBACK) expect((await come(gateway.url, origin)).status).toBe(403);
  });
});

/** A page at `origin` asks by each transport for a gateway that it knows as `host`. Resolves to the statuses. */
const statusesFor = async (
  url: string,
  origin: string,
  host: string,
  headers: Record<string, string> = {},
) => {
  const statuses: Record<string, number | undefined> = {};
  for (const [way, sent] of Object.entries({ post, get, stream, preflight })) {
    const { status } = await send(url, origin, { ...sent, headers: { ...sent.headers, ...headers, host } });
    statuses[way] = status;
  }
  statuses.socket = await new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      origin,
      headers: { ...headers, host },
    });
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
    socket.on('open', () => resolve(101));
    socket.on('error', () => {});
    socket.on('open', () => socket.terminate());
  });
  return statuses;
};

const REJECTED = { post: 403, get: 403, stream: 403, preflight: 403, socket: 403 };
const ACCEPTED = { post: 200, get: 200, stream: 200, preflight: 204, socket: 101 };

describe("a page of the gateway's own host", () => {
  const HOST = 'gateway.example';

  test('is rejected when its scheme is not that of PUBLIC_URL', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, PUBLIC_URL: `https://${HOST}` });
    expect(await statusesFor(gateway.url, `http://${HOST}`, HOST)).toEqual(REJECTED);
    expect(await statusesFor(gateway.url, `https://${HOST}`, HOST)).toEqual(ACCEPTED);
  });

  test('is rejected when its browser says that it is of another site: its scheme differs', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const { host } = new URL(gateway.url);
    const other = { 'sec-fetch-site': 'cross-site' };
    expect(await statusesFor(gateway.url, `http://${host}`, host, other)).toEqual(REJECTED);
    expect(await statusesFor(gateway.url, `http://${host}`, host)).toEqual(ACCEPTED);
  });

  test('is accepted with either scheme by another name than that of PUBLIC_URL: a proxy may terminate TLS', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, PUBLIC_URL: `https://${HOST}` });
    const { host } = new URL(gateway.url);
    for (const scheme of ['http', 'https'])
      expect(await statusesFor(gateway.url, `${scheme}://${host}`, host)).toEqual(ACCEPTED);
  });
});

test('the log has one line for each origin, and not many of them', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  for (let times = 0; times < 20; times += 1) await send(gateway.url, FOREIGN_ORIGIN, post);
  expect(refusalsIn(gateway)).toHaveLength(1);
  for (let number = 0; number < 200; number += 1)
    await send(gateway.url, `https://stranger-${number}.example`, get);
  expect(refusalsIn(gateway).length).toBeGreaterThan(5);
  expect(refusalsIn(gateway).length).toBeLessThan(40);
});

test('a foreign Host is rejected with PUBLIC_URL in the error and in the log, and cut short', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const host = `rebound.example.${'y'.repeat(5000)}`;
  const { status, body } = await send(gateway.url, gateway.url, { ...get, headers: { host } });
  expect(status).toBe(403);
  expect(body).toContain('rebound.example');
  expect(body).toContain('PUBLIC_URL');
  expect(body.length).toBeLessThan(1000);
  const lines = gateway.logLines.filter((line) => line.includes('rebound.example'));
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBeLessThan(1000);
  expect(lines[0]).toContain('PUBLIC_URL');
});
