import { describe, expect, test } from 'vitest';
import { createDeadline } from '../../../src/lib/deadlines.ts';
import { createVerifiedKeys } from '../../../src/webhooks/session.ts';
import { acceptingKeys, byKey, withKey } from '../../support/gateway/keys.ts';
import { codesOf, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { type Answer, startFakeService } from '../../support/upstream/fake-service.ts';

/** With AUTH=key only a client whose key upstream accepts gets a delivery URL: a client with an invented key could fill the log. */

const DOCUMENT = '{ deliveryUrl }';
const known = withKey('known-to-the-service');
const madeUp = withKey('made-up');

/** Lists webhooks for the one key that it knows. */
const knowing: Answer = (request) =>
  request.headers['x-service-api-key'] === known['x-service-api-key']
    ? acceptingKeys(request)
    : { status: 401, json: { error: 'invalid API Key' } };

const startKeyed = async (other: Answer) => {
  const made = new AsyncDisposableStack();
  const service = made.use(await startFakeService({ other }));
  const gateway = made.use(await startGateway({ UPSTREAM_URL: service.url, ...byKey }));
  return {
    service,
    gateway,
    ask: (headers: Record<string, string>, document = DOCUMENT) =>
      gateway.query<{ deliveryUrl: string }>(document, {}, headers),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

test('a key that the service accepts is proven by the cheapest listing, once, whoever asks meanwhile', async () => {
  await using keyed = await startKeyed(async (request) => ({ ...(await knowing(request)), latencyMs: 100 }));
  const replies = await Promise.all(Array.from({ length: 20 }, () => keyed.ask(known)));
  replies.push(await keyed.ask(known, '{ one: deliveryUrl two: deliveryUrl }'));
  expect(replies.flatMap(codesOf)).toEqual([]);
  const urls = replies.flatMap(({ data }) => Object.values(data ?? {}));
  expect([urls.length, new Set(urls).size]).toEqual([22, 1]);
  expect(keyed.service.requests.map(({ method, path, query }) => `${method} ${path}?${query}`)).toEqual([
    'GET /beta/evm/subscriptions/webhooks?limit=1',
  ]);
});

test('it is counted as any other request, and estimated at nothing', async () => {
  await using service = await startFakeService({
    other: async (request) => ({ ...(await knowing(request)), headers: { 'x-compute-units-cost': '0' } }),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...byKey, MAX_COMPUTE_UNITS: '1' });
  const costs = [];
  for (let turn = 0; turn < 2; turn += 1)
    costs.push((await gateway.query(DOCUMENT, {}, known)).extensions.upstream);
  expect(costs).toEqual([
    { requests: 1, computeUnits: 0, cached: 0 },
    { requests: 0, computeUnits: 0, cached: 0 },
  ]);
});

test.each([
  { status: 401, code: 'UNAUTHENTICATED' },
  { status: 403, code: 'FORBIDDEN' },
  { status: 402, code: 'QUOTA_EXCEEDED' },
  { status: 500, code: 'UPSTREAM_UNAVAILABLE' },
])('a $status hands out no url: $code, and is not remembered', async ({ status, code }) => {
  await using keyed = await startKeyed(() => ({ status, json: { error: 'no' } }));
  for (const asked of [1, 2]) {
    const reply = await keyed.ask(known);
    expect([codesOf(reply), reply.body.includes('/deliveries/')]).toEqual([[code], false]);
    expect(keyed.service.requests).toHaveLength(asked);
  }
  keyed.service.script.other = knowing;
  expect(codesOf(await keyed.ask(known))).toEqual([]);
});

test('nor does a service that can not be reached', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byKey });
  expect(codesOf(await gateway.query(DOCUMENT, {}, known))).toEqual(['UPSTREAM_UNAVAILABLE']);
});

test('one key proves no other', async () => {
  await using keyed = await startKeyed(knowing);
  const replies = await Promise.all([known, madeUp].map((headers) => keyed.ask(headers)));
  expect(replies.map(codesOf)).toEqual([[], ['UNAUTHENTICATED']]);
  expect(codesOf(await keyed.ask(madeUp))).toEqual(['UNAUTHENTICATED']);
});

test('a client that disconnects during the verification of a key does not cancel it for the others', async () => {
  const released = Promise.withResolvers<void>();
  await using keyed = await startKeyed(async (request) => {
    await released.promise;
    return knowing(request);
  });
  const { gateway, service } = keyed;
  const leaving = new AbortController();
  const first = fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...known },
    body: JSON.stringify({ query: DOCUMENT }),
    signal: leaving.signal,
  }).catch(() => null);
  await expect.poll(() => service.requests.length).toBe(1);
  const second = keyed.ask(known);
  leaving.abort();
  expect(await first).toBeNull();
  released.resolve();
  expect(codesOf(await second)).toEqual([]);
});

describe('a deployment that does not list webhooks', () => {
  /** It has what the contract promises: a change of addresses, and the id of no webhook. */
  const updating =
    (absent: number, unknown: number): Answer =>
    ({ method, headers }) => {
      if (method !== 'PATCH') return { status: absent };
      return headers['x-service-api-key'] === known['x-service-api-key']
        ? { status: unknown, text: 'Webhook not found' }
        : { status: 401 };
    };

  test.each([404, 405])('and says so with %s is asked for a change of nothing', async (absent) => {
    await using keyed = await startKeyed(updating(absent, 404));
    expect(codesOf(await keyed.ask(known))).toEqual([]);
    expect(codesOf(await keyed.ask(madeUp))).toEqual(['UNAUTHENTICATED']);
    const changes = keyed.service.requests.filter(({ method }) => method === 'PATCH');
    expect(changes.map(({ body }) => JSON.parse(body))).toEqual([{}, {}]);
  });

  test.each([400, 422])(
    'proves nothing by a %i, which may come before the key was looked at',
    async (unknown) => {
      await using keyed = await startKeyed(updating(404, unknown));
      const reply = await keyed.ask(known);
      expect(codesOf(reply)).toEqual(['UPSTREAM_REJECTED']);
      expect(reply.errors?.[0]?.message).toContain('no operation to verify an API key');
    },
  );

  test.each([400, 422])('but refuses to with %i is asked for a change of nothing, too', async (refusal) => {
    await using keyed = await startKeyed(updating(refusal, 404));
    expect([await keyed.ask(known), await keyed.ask(madeUp)].map(codesOf)).toEqual([[], ['UNAUTHENTICATED']]);
  });
});

test.each([
  ['open', {}, async () => ({})],
  ['jwt', byToken, async () => bearer(await tokenOf())],
] as const)("with AUTH=%s nobody is asked: the key is the gateway's own", async (_mode, env, headersOf) => {
  await using service = await startFakeService();
  await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...env });
  expect(codesOf(await gateway.query(DOCUMENT, {}, await headersOf()))).toEqual([]);
  expect(service.requests).toEqual([]);
});

test('a proof counts for an hour, however often it is used', async () => {
  let hours = 0;
  let asked = 0;
  const verifiedKeys = createVerifiedKeys(() => hours * 3_600_000);
  const verify = () =>
    verifiedKeys.verify(
      'a holder',
      createDeadline(1000, () => null),
      async () => {
        asked += 1;
      },
    );
  for (hours of [0, 0.5, 0.99]) await verify();
  expect(asked).toBe(1);
  for (hours of [1, 1.5]) await verify();
  expect(asked).toBe(2);
});
