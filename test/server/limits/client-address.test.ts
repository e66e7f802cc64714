import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postFrom } from '../../support/clients/post-from.ts';
import { overWebSocket } from '../../support/clients/transports.ts';
import { needHaproxy, startHaproxy } from '../../support/gateway/haproxy.ts';
import { type GraphQLFault, startGateway } from '../../support/gateway/start.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** With AUTH=open a client is an IP address. Behind a proxy it is the one that the proxy was asked from. */

const lookup = () => ({
  query: `{ wallet(address: "${freshAddress()}") { transactions { nodes { hash } } } }`,
});

type Answer = { readonly errors?: readonly GraphQLFault[] | undefined };

/** Whether the budget of an answer's client was spent. */
const isOverBudget = ({ errors = [] }: Answer): boolean =>
  errors.some(({ extensions }) => extensions.code === 'COMPUTE_BUDGET_EXCEEDED');

/** A gateway where each client may make one lookup a minute. */
const startLimited = async (env: Record<string, string> = {}) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(
    await startGateway({ UPSTREAM_URL: fake.url, CLIENT_COMPUTE_UNITS_PER_MINUTE: '1', ...env }),
  );
  const running = made.move();
  return {
    ...gateway,
    /** A lookup with these headers. Resolves to whether the client has none left. */
    isRefused: async (headers: Record<string, string>) =>
      isOverBudget(await gateway.query(lookup().query, {}, headers)),
    warnings: () => gateway.logLines.filter((line) => line.includes('TRUSTED_PROXIES')),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

test('behind HAProxy each client has a budget of its own, over HTTP and WebSocket, whatever it says of itself', async (context) => {
  await needHaproxy(context);
  await using gateway = await startLimited({ TRUSTED_PROXIES: '127.0.0.1' });
  const port = Number(new URL(gateway.url).port);
  const { url } = await startHaproxy([port, port]);
  const from = async (address: string, headers?: Record<string, string>) =>
    isOverBudget(JSON.parse(await postFrom(address, url, lookup(), headers)));
  expect([await from('127.0.0.2'), await from('127.0.0.3')]).toEqual([false, false]);
  expect([await from('127.0.0.2'), await from('127.0.0.3')]).toEqual([true, true]);
  // What a client claims is left of what the proxy adds, or is removed by it.
  for (const claim of [{ 'x-forwarded-for': '198.51.100.1' }, { forwarded: 'for=198.51.100.1' }])
    expect(await from('127.0.0.2', claim)).toBe(true);
  expect(isOverBudget(await overWebSocket(url, lookup(), {}, { localAddress: '127.0.0.2' }))).toBe(true);
  expect(isOverBudget(await overWebSocket(url, lookup(), {}, { localAddress: '127.0.0.4' }))).toBe(false);
  expect(gateway.warnings()).toEqual([]);
});

test('without TRUSTED_PROXIES all its clients are one, and the first of them is a warning', async (context) => {
  await needHaproxy(context);
  await using gateway = await startLimited();
  const port = Number(new URL(gateway.url).port);
  const { url } = await startHaproxy([port, port]);
  const from = async (address: string) => isOverBudget(JSON.parse(await postFrom(address, url, lookup())));
  expect([await from('127.0.0.2'), await from('127.0.0.3')]).toEqual([false, true]);
  expect(gateway.warnings().map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', proxy: '127.0.0.1' },
  ]);
});

describe('the headers of trusted proxies say', () => {
  let gateway: Awaited<ReturnType<typeof startLimited>>;
  beforeAll(async () => {
    gateway = await startLimited({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,2001:db8::/32' });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  let claims = 0;

  /** The headers of a request whose client claims to be another, and the address that it is counted as. */
  test.each<[what: string, headers: (claim: string) => Record<string, string>, client: string]>([
    ['the last address', (claim) => ({ 'x-forwarded-for': `${claim}, 203.0.113.1` }), '203.0.113.1'],
    [
      'the last one that is no proxy',
      (claim) => ({ 'x-forwarded-for': `${claim}, 203.0.113.2, 10.1.2.3,2001:db8::7` }),
      '203.0.113.2',
    ],
    ['the first, where all are proxies', () => ({ 'x-forwarded-for': '10.0.1.1, 10.0.0.1' }), '10.0.1.1'],
    ['an address with a port', () => ({ 'x-forwarded-for': '203.0.113.3:51234' }), '203.0.113.3'],
    ['a mapped address', () => ({ 'x-forwarded-for': '::ffff:203.0.113.14' }), '203.0.113.14'],
    ['a mapped address in capitals', () => ({ 'x-forwarded-for': '::FFFF:203.0.113.4' }), '203.0.113.4'],
    ['a mapped address in hex', () => ({ 'x-forwarded-for': '0:0:0:0:0:ffff:cb00:7105' }), '203.0.113.5'],
    ['an address of a /64', () => ({ 'x-forwarded-for': '2001:db9:1:2:3:4:5:6' }), '2001:db9:1:2::9'],
    ['a short address of a /64', () => ({ 'x-forwarded-for': '2001:db9::1' }), '2001:db9:0:0:1:2:3:4'],
    ['a /64 beside another', () => ({ 'x-forwarded-for': '[2001:db9:0:1::5]:443' }), '2001:db9:0:1:ffff::'],
    [
      'Forwarded',
      (claim) => ({ forwarded: `for=${claim};proto=http, For=203.0.113.6;by=10.0.0.1` }),
      '203.0.113.6',
    ],
    [
      'Forwarded in quotes',
      () => ({ forwarded: 'proto=https;for="[2001:db9:0:2::1]:4711"' }),
      '2001:db9:0:2::1',
    ],
    [
      'Forwarded beside a host that looks like more',
      (claim) => ({ forwarded: `host="a,for=${claim};for=${claim}";for=203.0.113.7` }),
      '203.0.113.7',
    ],
    [
      'Forwarded after a quote that is left open',
      (claim) => ({ forwarded: `for="${claim}, for="203.0.113.8"` }),
      '203.0.113.8',
    ],
    [
      'both headers alike',
      (claim) => ({ forwarded: 'for=203.0.113.9', 'x-forwarded-for': `${claim}, 203.0.113.9` }),
      '203.0.113.9',
    ],
    [
      'the nearest proxy, where an entry is no address',
      (claim) => ({ 'x-forwarded-for': `${claim}, unknown, 10.0.2.1` }),
      '10.0.2.1',
    ],
    [
      'the nearest proxy, where an address is cut',
      () => ({ 'x-forwarded-for': '203.0.113, 10.0.2.2' }),
      '10.0.2.2',
    ],
    [
      'the nearest proxy, where an entry is empty',
      (claim) => ({ 'x-forwarded-for': `${claim},, 10.0.2.3` }),
      '10.0.2.3',
    ],
    [
      'the nearest proxy, where one hides its client',
      (claim) => ({ forwarded: `for=${claim}, for=_hidden, for=10.0.2.4` }),
      '10.0.2.4',
    ],
    [
      'the nearest proxy, where an element is malformed',
      (claim) => ({ forwarded: `for=${claim} for=${claim}, for=10.0.2.5` }),
      '10.0.2.5',
    ],
    [
      'the nearest proxy, where an element has two clients',
      (claim) => ({ forwarded: `for=${claim};for=${claim}, for=10.0.2.6` }),
      '10.0.2.6',
    ],
    [
      'the proxy that is connected, where the two headers differ',
      (claim) => ({ forwarded: `for=${claim}`, 'x-forwarded-for': '203.0.113.10' }),
      '127.0.0.1',
    ],
  ])('%s', async (_what, headersOf, client) => {
    claims += 1;
    const claim = `198.51.100.${claims}`;
    expect(await gateway.isRefused(headersOf(claim))).toBe(false);
    expect(await gateway.isRefused({ 'x-forwarded-for': client })).toBe(true);
    expect(await gateway.isRefused({ 'x-forwarded-for': claim })).toBe(false);
  });
});

test.each([
  ['IPv4', '127.0.0.1', '127.0.0.1'],
  ['IPv6', '::1', '::1'],
  ['IPv4, where the gateway listens for both', '::', '127.0.0.1'],
])('a proxy may connect by %s', async (_what, host, proxy) => {
  await using gateway = await startLimited({ HOST: host, AUTH: 'open', TRUSTED_PROXIES: proxy });
  const url = `http://${proxy.includes(':') ? `[${proxy}]` : proxy}:${new URL(gateway.url).port}`;
  const isRefused = async (client: string) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': client };
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify(lookup()),
    });
    return isOverBudget((await response.json()) as Answer);
  };
  const clients = ['203.0.113.1', '203.0.113.2', '203.0.113.1'];
  expect([await isRefused('203.0.113.1'), await isRefused('203.0.113.2')]).toEqual([false, false]);
  expect(await Promise.all(clients.map(isRefused))).toEqual([true, true, true]);
});

test('what a client says that is no trusted proxy is not read', async () => {
  await using gateway = await startLimited({ TRUSTED_PROXIES: '10.0.0.0/8' });
  expect(await gateway.isRefused({ 'x-forwarded-for': '203.0.113.1' })).toBe(false);
  expect(await gateway.isRefused({ 'x-forwarded-for': '203.0.113.2' })).toBe(true);
});
