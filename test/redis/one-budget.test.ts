import { expect, test, vi } from 'vitest';
import { poll } from '../support/clients/queries.ts';
import { acceptingKeys, byKey, withKey } from '../support/gateway/keys.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { inTurn } from '../support/upstream/fake-service.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../support/upstream/wallets.ts';

/** Limits hold over all gateways on one Redis. */

const start = (fake: FakeWallets, redisUrl: string, env: Record<string, string | undefined> = {}) =>
  startGateway({ UPSTREAM_URL: fake.url, AUTH: 'open', REDIS_URL: redisUrl, ...env });

const accepted = async (gateways: readonly Gateway[], most: number): Promise<number> => {
  for (let count = 0; count < most; count += 1) {
    const reply = await poll(gateways[count % gateways.length] as Gateway, freshAddress());
    if (codesOf(reply).includes('COMPUTE_BUDGET_EXCEEDED')) {
      expect(reply.errors?.[0]?.extensions).toMatchObject({
        allowedComputeUnits: 0,
        estimatedComputeUnits: 1,
      });
      expect(reply.errors?.[0]?.extensions.retryAfterMs).toBeGreaterThan(0);
      return count;
    }
    expect(codesOf(reply)).toEqual([]);
  }
  return most;
};

test("a client's budget of compute units is one, whichever gateways it asks", async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const perMinute = 6;
  const env = { CLIENT_COMPUTE_UNITS_PER_MINUTE: String(perMinute) };
  await using first = await start(fake, redis.url, env);
  await using second = await start(fake, redis.url, env);
  const startedAt = performance.now();
  const count = await accepted([first, second], 2 * perMinute);
  const filled = ((performance.now() - startedAt) * perMinute) / 60_000;
  expect(count).toBeGreaterThanOrEqual(perMinute);
  expect(count).toBeLessThanOrEqual(perMinute + filled);
  // What is rejected takes nothing, and what asks for nothing is not charged.
  expect(codesOf(await first.query('{ __typename }'))).toEqual([]);
});

test('what an operation did not spend is given back', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const env = { CLIENT_COMPUTE_UNITS_PER_MINUTE: '5', CACHE_HEAD_MS: '600000' };
  await using first = await start(fake, redis.url, env);
  await using second = await start(fake, redis.url, env);
  const address = freshAddress();
  for (let turn = 0; turn < 20; turn += 1)
    expect(codesOf(await poll(turn % 2 === 0 ? first : second, address))).toEqual([]);
  expect(fake.requests).toHaveLength(1);
});

test('what is left of a budget is what all gateways have left, and in an answer without cost once it is known', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const perMinute = 1_000_000;
  const env = { CLIENT_COMPUTE_UNITS_PER_MINUTE: String(perMinute), CACHE_HEAD_MS: '600000' };
  await using first = await start(fake, redis.url, env);
  await using second = await start(fake, redis.url, env);
  const query = 'query ($a: Address!) { wallet(address: $a) { transactions(first: 1) { nodes { hash } } } }';
  const costly = freshAddress();
  fake.transactions.set(costly, () => ({
    json: { transactions: [] },
    headers: { 'X-Compute-Units-Cost': '900000' },
  }));
  const ask = async (gateway: Gateway, address: string) =>
    (await gateway.query(query, { a: address })).extensions.upstream.budget?.left ?? null;
  expect((await first.query('{ __typename }')).extensions.upstream).not.toHaveProperty('budget');
  // It fills by 1,000,000 in a minute, and is full at most.
  expect(await ask(first, costly)).toBeLessThan(perMinute / 2);
  expect(await ask(second, freshAddress())).toBeLessThan(perMinute / 2);
  const { extensions } = await second.query('{ __typename }');
  expect(extensions.upstream.budget?.left).toBeLessThan(perMinute / 2);
  expect(extensions.upstream.budget?.perMinute).toBe(perMinute);
});

test('while Redis is down each gateway has a budget of its own, and no client gets an error', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const perMinute = 3;
  const env = { CLIENT_COMPUTE_UNITS_PER_MINUTE: String(perMinute), UPSTREAM_RPS: '1000' };
  await using first = await start(fake, redis.url, env);
  await using second = await start(fake, redis.url, env);
  expect(await accepted([first, second], 2 * perMinute)).toBeLessThan(2 * perMinute);
  await redis.crash();
  await vi.waitFor(async () => {
    await poll(first, freshAddress());
    expect((await scrape(first.url)).sum('gateway_shared_errors_total', { task: 'budget' })).toBeGreaterThan(
      0,
    );
  }, 120_000);
  expect(await accepted([second], perMinute)).toBe(perMinute);
  await redis.restart();
  await vi.waitFor(
    async () => expect(codesOf(await poll(second, freshAddress()))).toEqual(['COMPUTE_BUDGET_EXCEEDED']),
    { timeout: 60_000, interval: 100 },
  );
});

test('a Retry-After that one gateway gets holds back the key at all, also at one that starts later', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  await using first = await start(fake, redis.url);
  await using second = await start(fake, redis.url);
  await using otherKey = await start(fake, redis.url, { UPSTREAM_API_KEY: 'another-key-of-upstream' });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 429, headers: { 'retry-after': '50' }, json: {} }));
  expect(codesOf(await poll(first, address))).toEqual(['RATE_LIMITED']);
  await vi.waitFor(async () => {
    const metrics = await scrape(first.url);
    expect(metrics.sum('gateway_shared_duration_seconds_count', { task: 'cooldown' })).toBeGreaterThan(1);
  }, 120_000);
  const asked = fake.requests.length;
  const held = await poll(second, freshAddress());
  expect(codesOf(held)).toEqual(['RATE_LIMITED']);
  expect(held.errors?.[0]?.extensions.retryAfterMs).toBeGreaterThan(2000);
  await using third = await start(fake, redis.url);
  expect(codesOf(await poll(third, freshAddress()))).toEqual(['RATE_LIMITED']);
  expect(fake.requests).toHaveLength(asked);
  expect(codesOf(await poll(otherKey, freshAddress()))).toEqual([]);
  const names = String(await redis.run('KEYS', 'gateway:*'));
  expect(names).toContain('gateway:cooldowns:');
  expect(names).not.toMatch(/another-key|held-by|127\.0\.0\.1/);
});

test('UPSTREAM_RPS is the rate of all gateways together', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const perSecond = 20;
  await using first = await start(fake, redis.url, { UPSTREAM_RPS: String(perSecond) });
  await using second = await start(fake, redis.url, { UPSTREAM_RPS: String(perSecond) });
  const gateways = [first, second];
  const count = 30;
  const startedAt = Date.now();
  const polls = Array.from({ length: count }, (_, index) =>
    poll(gateways[index % 2] as Gateway, freshAddress()),
  );
  const replies = await Promise.all(polls);
  expect(replies.flatMap(codesOf)).toEqual([]);
  const times = fake.requests.map(({ at }) => at);
  expect(times).toHaveLength(count);
  // On a busy machine the first one may arrive late.
  const spanMs = Math.max(...times) - startedAt;
  expect(spanMs).toBeGreaterThan(((count - 1) * 1000 * 0.9) / perSecond);
});

test('a queue of other gateways that is longer than the deadline is RATE_LIMITED at once', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_RPS: '1', UPSTREAM_TIMEOUT_MS: '1000' };
  await using first = await start(fake, redis.url, env);
  await using second = await start(fake, redis.url, env);
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, index) => poll(index % 2 === 0 ? first : second, freshAddress())),
  );
  const limited = replies.filter((reply) => codesOf(reply).includes('RATE_LIMITED'));
  expect(limited.length).toBeGreaterThan(6);
  // None that was limited was sent. One that was sent may have timed out on a busy machine.
  const answered = replies.filter((reply) => codesOf(reply).length === 0);
  expect(fake.requests.length).toBeGreaterThanOrEqual(answered.length);
  expect(fake.requests.length).toBeLessThanOrEqual(replies.length - limited.length);
  for (const { errors } of limited) expect(errors?.[0]?.extensions.retryAfterMs).toBeGreaterThan(0);
});

test('a key that upstream has accepted at one gateway is not verified again at another', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  fake.script.other = inTurn(acceptingKeys, () => ({ status: 401, json: { error: 'invalid API Key' } }));
  const keyed = { ...byKey, AUTH: 'key', UPSTREAM_API_KEY: undefined };
  await using first = await start(fake, redis.url, keyed);
  await using second = await start(fake, redis.url, keyed);
  expect(codesOf(await first.query('{ deliveryUrl }', {}, withKey('known-to-the-service')))).toEqual([]);
  expect(codesOf(await second.query('{ deliveryUrl }', {}, withKey('known-to-the-service')))).toEqual([]);
  expect(fake.requests).toHaveLength(1);
  expect(codesOf(await second.query('{ deliveryUrl }', {}, withKey('made-up')))).toEqual(['UNAUTHENTICATED']);
  expect(fake.requests).toHaveLength(2);
  expect(String(await redis.run('KEYS', 'gateway:verified:*'))).not.toContain('known');
});

test('servers without REDIS_URL share nothing', async () => {
  await using fake = await startFakeWallets();
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(3)));
  const env = { UPSTREAM_URL: fake.url, AUTH: 'open', CLIENT_COMPUTE_UNITS_PER_MINUTE: '1' };
  await using first = await startGateway(env);
  await using second = await startGateway(env);
  for (const gateway of [first, second]) expect(codesOf(await poll(gateway, address))).toEqual([]);
  expect(fake.requests).toHaveLength(2);
});
