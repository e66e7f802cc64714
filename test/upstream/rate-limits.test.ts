import { expect, test } from 'vitest';
import { createDeadline } from '../../src/lib/deadlines.ts';
import { UpstreamError } from '../../src/upstream/client/errors.ts';
import { createKeyCooldowns } from '../../src/upstream/client/limits.ts';
import { poll } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { byKey, withKey } from '../support/gateway/keys.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { type Answer, inTurn } from '../support/upstream/fake-service.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';
import { documentOf } from '../webhooks/support/documents.ts';
import { inputOf } from '../webhooks/support/inputs.ts';

/** After a 429 with Retry-After, no operation sends anything with the same key until that time has passed. */

const tooMany =
  (headers: Record<string, string>, latencyMs = 0): Answer =>
  () => ({ status: 429, headers, latencyMs });

/** Starts with a wallet that upstream would serve. */
const startOver = async (env: Record<string, string | undefined> = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', ...env }));
  const served = () => {
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(3)));
    return address;
  };
  return { fake, gateway, served, address: served(), [Symbol.asyncDispose]: () => made.disposeAsync() };
};

/** A creation is not retried, so it resolves with upstream's first answer. */
const createWebhook = (gateway: Gateway, headers: Record<string, string> = {}) =>
  gateway.query(documentOf('createWebhook'), { input: inputOf('createWebhook') }, headers);

const LIST = '{ webhooks { nodes { name } } }';

test('during a long cooldown requests fail at once, with retryAfterMs', async () => {
  await using wait = await startOver();
  const { fake, gateway, address } = wait;
  fake.script.other = tooMany({ 'retry-after': '30' });
  await createWebhook(gateway);
  for (const reply of [
    await poll(gateway, address),
    await gateway.query(LIST),
    await createWebhook(gateway),
  ]) {
    expect(codesOf(reply)).toEqual(['RATE_LIMITED']);
    expect(reply.errors?.[0]?.extensions.retryAfterMs).toBeGreaterThan(0);
    expect(reply.errors?.[0]?.extensions.retryAfterMs).toBeLessThanOrEqual(30_000);
    expect(reply.extensions.upstream).toMatchObject({ requests: 0, computeUnits: 0 });
  }
  expect(fake.requests).toHaveLength(1);
});

test('an older page is served during a cooldown', async () => {
  await using wait = await startOver();
  const { fake, gateway, address } = wait;
  await poll(gateway, address);
  fake.script.other = tooMany({ 'retry-after': '30' });
  await createWebhook(gateway);
  const reply = await poll(gateway, address);
  expect([codesOf(reply), reply.data?.wallet.transactions?.nodes.length]).toEqual([[], 3]);
  expect(fake.requests).toHaveLength(2);
});

test('requests wait for a short cooldown, also those that are already in the queue', async () => {
  await using wait = await startOver({ UPSTREAM_CONNECTIONS: '1' });
  const { fake, gateway, served } = wait;
  const latencyMs = 300;
  fake.script.other = tooMany({ 'retry-after': '1' }, latencyMs);
  const creating = createWebhook(gateway);
  await eventually(() => fake.requests.length > 0);
  const early = [served(), served(), served()].map((address) => poll(gateway, address));
  expect(codesOf(await creating)).toEqual(['RATE_LIMITED']);
  const late = [served(), served()].map((address) => poll(gateway, address));
  expect((await Promise.all([...early, ...late])).flatMap(codesOf)).toEqual([]);
  const [refusedAt = 0, ...askedAt] = fake.requests.map(({ at }) => at);
  expect(askedAt).toHaveLength(5);
  expect(Math.min(...askedAt) - refusedAt).toBeGreaterThanOrEqual(latencyMs + 990);
});

test('metrics count a cooldown apart from the queue', async () => {
  await using wait = await startOver();
  const { fake, gateway, address, served } = wait;
  fake.script.other = inTurn(tooMany({ 'retry-after': '2' }), tooMany({ 'retry-after': '30' }));
  await createWebhook(gateway);
  expect(codesOf(await poll(gateway, address))).toEqual([]);
  await createWebhook(gateway);
  expect(codesOf(await poll(gateway, served()))).toEqual(['RATE_LIMITED']);
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_upstream_rejected_before_send_total', { reason: 'cooldown' })).toBe(1);
  expect(sum('gateway_upstream_rejected_before_send_total')).toBe(1);
  expect(sum('gateway_upstream_requests_total', { outcome: 'rateLimited' })).toBe(2);
  expect(sum('gateway_upstream_queue_seconds_count')).toBe(4);
  expect(sum('gateway_upstream_queue_seconds_sum')).toBeLessThan(1.5);
});

test("the cooldown of one client's key does not affect another's", async () => {
  await using wait = await startOver(byKey);
  const { fake, gateway, address } = wait;
  fake.script.other = tooMany({ 'retry-after': '30' });
  await createWebhook(gateway, withKey('of-one-client'));
  expect(codesOf(await poll(gateway, address, withKey('of-another')))).toEqual([]);
  expect(codesOf(await poll(gateway, address, withKey('of-one-client')))).toEqual(['RATE_LIMITED']);
});

test.each([{}, { 'retry-after': 'soon' }, { 'retry-after': '0' }])(
  'a 429 without a valid Retry-After starts no cooldown: %j',
  async (headers) => {
    await using wait = await startOver();
    const { fake, gateway, address } = wait;
    fake.script.other = inTurn(tooMany(headers), tooMany({ 'retry-after': '30' }));
    await createWebhook(gateway);
    expect(codesOf(await poll(gateway, address))).toEqual([]);
  },
);

test('a wait is never longer than the deadline, and a cooldown never longer than a minute', async () => {
  let now = 0;
  const cooldowns = createKeyCooldowns(() => now);
  const credential = { key: 'k', owner: 'gateway' } as const;
  cooldowns.record(credential, new UpstreamError('rateLimited', '', { status: 429, retryAfterMs: 1e9 }));
  const wait = (ms: number) =>
    cooldowns.wait(
      credential,
      createDeadline(ms, () => null),
    );
  await expect(wait(10_000)).rejects.toMatchObject({ failure: 'coolingDown', retryAfterMs: 60_000 });
  now = 59_000;
  await expect(wait(500)).rejects.toMatchObject({ failure: 'coolingDown', retryAfterMs: 1000 });
  now = 60_000;
  expect(() => cooldowns.assertReady(credential)).not.toThrow();
  expect(wait(500)).toBeNull();
});
