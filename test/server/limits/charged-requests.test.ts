import { describe, expect, test } from 'vitest';
import { LEAVING } from '../../support/clients/leaving-clients.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import {
  chargedTo,
  expectCharged,
  metricsOf,
  startCharging,
  watchCharges,
} from '../../support/gateway/charges.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { codesOf } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { needRedis } from '../../support/redis/server.ts';
import { redisServers } from '../../support/redis/sharing-gateways.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { inTurn, type Reply } from '../../support/upstream/fake-service.ts';
import { servingCollectibles, servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** A request that was sent costs what upstream states, else its price, whatever became of its answer. */

const CHAINS = 3;
const collectiblesOf = (address: string) =>
  `{ wallet(address: "${address}") { collectibles(chainIds: [1, 10, 137]) { nodes { name } } } }`;
const transactionsOf = (address: string) =>
  `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;

/** No request times out by itself. */
const PATIENT = { UPSTREAM_TIMEOUT_MS: '60000' };

const stating = (computeUnits: number) => ({ 'x-compute-units-cost': String(computeUnits) });
/** Upstream does not say what it billed. */
const UNSTATED = { 'x-compute-units-cost': '' };

describe.each(LEAVING)('over %s', (_transport, ask) => {
  test('a client that leaves is charged for the request that upstream has received', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startCharging({ UPSTREAM_URL: fake.url, ...PATIENT });
    const address = freshAddress();
    fake.collectibles.set(address, () => ({ silent: true }));
    const client = await ask(gateway.url, collectiblesOf(address));
    await eventually(() => fake.requests.length === 1);
    client.leave();
    await eventually(() => fake.requests[0]?.abandoned === true);
    await expectCharged(gateway, CHAINS);
  });

  test('a client that leaves while its request is in the queue is charged nothing', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startCharging({
      UPSTREAM_URL: fake.url,
      UPSTREAM_CONNECTIONS: '1',
      ...PATIENT,
    });
    const [slow, queued] = [freshAddress(), freshAddress()];
    fake.transactions.set(slow, () => ({ silent: true }));
    const first = await ask(gateway.url, transactionsOf(slow));
    await eventually(() => fake.requests.length === 1);
    const second = await ask(gateway.url, collectiblesOf(queued));
    const held = async () => (await chargedTo(gateway)) === 1 + CHAINS;
    await expect.poll(held).toBe(true);
    second.leave();
    await expect.poll(() => chargedTo(gateway)).toBe(1);
    first.leave();
    await expectCharged(gateway, 1);
    expect(fake.requests).toHaveLength(1);
  });
});

describe('an answer that can not be used is charged', () => {
  test.each<{ what: string; reply: Reply; computeUnits: number }>([
    { what: 'a 200 that breaks the contract', reply: { text: 'no page' }, computeUnits: 1 },
    {
      what: 'a 200 that breaks the contract and states its cost',
      reply: { json: { transactions: 1 }, headers: stating(14) },
      computeUnits: 14,
    },
    { what: '500', reply: { status: 500, headers: UNSTATED }, computeUnits: 1 },
    { what: '500 that states its cost', reply: { status: 500, headers: stating(5) }, computeUnits: 5 },
    { what: '500 that states that it is free', reply: { status: 500, headers: stating(0) }, computeUnits: 0 },
    { what: '403', reply: { status: 403, headers: UNSTATED }, computeUnits: 1 },
    { what: '404', reply: { status: 404, headers: UNSTATED }, computeUnits: 1 },
    {
      what: 'each attempt at a body that is cut',
      reply: { json: { transactions: [] }, cutAfterBytes: 3, headers: stating(2) },
      computeUnits: 6,
    },
    {
      what: 'each attempt that is answered 503',
      reply: { status: 503, headers: UNSTATED },
      computeUnits: 3,
    },
    { what: 'an answer that does not come in time', reply: { silent: true }, computeUnits: 1 },
  ])('$what', async ({ reply, computeUnits }) => {
    await using fake = await startFakeWallets();
    await using gateway = await startCharging({
      UPSTREAM_URL: fake.url,
      UPSTREAM_TIMEOUT_MS: reply.silent ? '500' : '60000',
    });
    const address = freshAddress();
    fake.transactions.set(address, () => reply);
    const { errors, extensions } = await gateway.query(transactionsOf(address));
    expect(errors).toHaveLength(1);
    expect(extensions.upstream).toMatchObject({ requests: fake.requests.length, computeUnits, cached: 0 });
    await expectCharged(gateway, computeUnits);
  });
});

describe('what upstream does not bill costs nothing', () => {
  test.each([401, 402, 429])('%i', async (status) => {
    await using fake = await startFakeWallets();
    await using gateway = await startCharging({ UPSTREAM_URL: fake.url });
    const address = freshAddress();
    fake.transactions.set(address, () => ({ status, headers: UNSTATED }));
    const { errors, extensions } = await gateway.query(transactionsOf(address));
    expect(errors).toHaveLength(1);
    expect(extensions.upstream.computeUnits).toBe(0);
    await expectCharged(gateway, 0);
  });

  test('refused connections', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startCharging({ UPSTREAM_URL: fake.url });
    await fake.goDown();
    const reply = await gateway.query(transactionsOf(freshAddress()));
    expect(codesOf(reply)).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(reply.extensions.upstream.computeUnits).toBe(0);
    await expectCharged(gateway, 0);
  });
});

test('a retry that would exceed MAX_COMPUTE_UNITS is not sent', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startCharging({ UPSTREAM_URL: fake.url, MAX_COMPUTE_UNITS: '2' });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 503 }));
  const reply = await gateway.query(transactionsOf(address));
  expect(codesOf(reply)).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect(reply.extensions.upstream).toMatchObject({ requests: 2, computeUnits: 2, cached: 0 });
  expect(fake.requests).toHaveLength(2);
});

test('the client that started a request pays for it, also for what it costs once only others wait for it', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startCharging({ UPSTREAM_URL: fake.url, ...byToken, ...PATIENT });
  const address = freshAddress();
  const release = Promise.withResolvers<void>();
  const busy = async (): Promise<Reply> => {
    await release.promise;
    return { status: 503, headers: stating(2) };
  };
  const served = servingCollectibles([]);
  fake.collectibles.set(
    address,
    inTurn(busy, async (request) => ({ ...(await served(request)), headers: stating(4) })),
  );
  const [starter, joiner] = await Promise.all(
    ['starter', 'joiner'].map(async (sub) => bearer(await tokenOf({ sub }))),
  );
  const [, ask] = LEAVING[0] ?? expect.unreachable();
  const left = await ask(gateway.url, collectiblesOf(address), starter);
  await eventually(() => fake.requests.length === 1);
  // The request for another page shows that this client has asked for both.
  const other = freshAddress();
  const both = `${collectiblesOf(address).slice(0, -1)} other: ${transactionsOf(other).slice(1)}`;
  const stayed = await ask(gateway.url, both, joiner);
  await eventually(() => fake.requestsFor(other).length === 1);
  left.leave();
  const abandoned = async () =>
    (await scrape(gateway.url)).sum('gateway_operations_total', { code: 'ABANDONED' });
  await expect.poll(abandoned).toBe(1);
  release.resolve();
  expect(await stayed.answer).toContain('{"requests":1,"computeUnits":1,"cached":1,');
  await expect.poll(() => chargedTo(gateway, starter)).toBe(6);
  expect(await chargedTo(gateway, joiner)).toBe(1);
  expect(await metricsOf(gateway)).toEqual({ upstream: 7, operations: 7 });
});

describe('a stale page that is refreshed costs its client what upstream states in the end', () => {
  const LATER = 300;
  /** Requests a page, and gets it again when it is stale. */
  const refreshed = async (
    env: Record<string, string> = {},
    forget: () => Promise<unknown> = async () => {},
  ) => {
    await using made = new AsyncDisposableStack();
    const fake = made.use(await startFakeWallets());
    const whole = { UPSTREAM_URL: fake.url, AUTH: 'open', CACHE_HEAD_MS: '60000', ...env };
    const gateway = made.use(await startCharging(whole));
    const address = freshAddress();
    const served = servingTransactions([]);
    fake.transactions.set(address, served);
    await gateway.data(transactionsOf(address));
    fake.transactions.set(address, async (request) => ({
      ...(await served(request)),
      headers: stating(LATER),
    }));
    await forget();
    gateway.advance(70_000);
    expect((await gateway.query(transactionsOf(address))).extensions.upstream.cached).toBe(1);
    await expect.poll(() => metricsOf(gateway)).toEqual({ upstream: 1 + LATER, operations: 1 + LATER });
    const running = made.move();
    return Object.assign(gateway, { [Symbol.asyncDispose]: () => running.disposeAsync() });
  };

  test('which it may do once the operation is answered', async () => {
    await using gateway = await refreshed();
    // The budget has filled before.
    expect(await chargedTo(gateway)).toBe(LATER);
  });

  test('where a shared cache is asked first, also if that takes longer than the answer', async (context) => {
    await needRedis(context);
    const { log, cache } = await redisServers();
    const env = { REDIS_URL: log.url, REDIS_CACHE_URL: cache.url };
    using charges = await watchCharges(log);
    await using _gateway = await refreshed(env, () => cache.run('FLUSHALL'));
    await expect.poll(charges.charged).toBe(1 + LATER);
  });
});
