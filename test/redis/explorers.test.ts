import { describe, expect, test, vi } from 'vitest';
import { madeUp, WALLET } from '../support/blockscout/made-up.ts';
import { type SeenRequest, startBlockscout } from '../support/blockscout/server.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { freshAddress } from '../support/upstream/builders.ts';

/** Two gateways with BLOCKSCOUT on one Redis: what an explorer gives is one for both. */

const KEY = 'proapi_shared-secret-9876543210';
const contents = madeUp();

type Options = Partial<NonNullable<Parameters<typeof startBlockscout>[0]['hosted']>>;

const open = async (limits: Options = {}, env: Record<string, string> = {}) => {
  const redis = await startRedis();
  await using made = new AsyncDisposableStack();
  const hosted = await startBlockscout({ chains: [{ id: 1, contents }], hosted: { key: KEY, ...limits } });
  made.use(hosted);
  const start = async () => {
    const gateway = await startGateway(
      {
        ...{ REDIS_URL: redis.url, AUTH: 'open', BLOCKSCOUT: '1', BLOCKSCOUT_API_KEY: KEY },
        ...{ BLOCKSCOUT_URL: hosted.url, CACHE_HEAD_MS: '600000', ...env },
      },
      { readsChains: true },
    );
    return made.use(gateway);
  };
  const first = await start();
  const second = await start();
  // Each has asked for the version, once.
  await expect.poll(() => hosted.requests.length).toBe(2);
  const opened = made.move();
  return {
    ...{ redis, hosted, first, second },
    gateways: [first, second] as const,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
};

/** One request of an explorer, unless it is refused before. */
const ask = (gateway: Gateway, address = freshAddress()) =>
  gateway.query('query ($address: Address!) { wallet(address: $address) { name(chainId: 1) } }', { address });

const askBoth = (gateways: readonly Gateway[], count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => ask(gateways[at % gateways.length] as Gateway)));

/** Says a rate, which the simulator leaves to the gateways: a request that comes late is no reason to refuse the next one. */
const saying = (perSecond: number) => ({ headers: { 'x-ratelimit-limit': String(perSecond) } });

/** The milliseconds from the first of some requests to the last. */
const spanOf = (requests: readonly SeenRequest[]): number =>
  (requests.at(-1)?.at ?? 0) - (requests[0]?.at ?? 0);

test('together they stay below the rate of the plan', async (context) => {
  await needRedis(context);
  await using opened = await open({ perSecond: 1_000 });
  const { hosted, gateways } = opened;
  hosted.plant(saying(5));
  for (const gateway of gateways) await ask(gateway);
  const before = hosted.requests.length;
  for (const { errors } of await askBoth(gateways, 20)) expect(errors).toBeUndefined();
  const both = hosted.requests.slice(before);
  expect(both).toHaveLength(20);
  // Each for itself would take a second.
  expect(spanOf(both)).toBeGreaterThan(2_500);
});

test('together they spend no credit that is not there, and both say when there are new ones', async (context) => {
  await needRedis(context);
  await using opened = await open({ credits: 200, perSecond: 50 });
  const { hosted, gateways } = opened;
  // One answer to each, so that both know what is left.
  for (const gateway of gateways) expect((await ask(gateway)).errors).toBeUndefined();
  const replies = await askBoth(gateways, 12);
  // What is under way may be counted twice, and so end the day a few requests early.
  expect(replies.filter(({ errors }) => errors === undefined).length).toBeGreaterThan(2);
  for (const { errors } of replies)
    if (errors) expect(errors).toMatchObject([{ message: expect.stringContaining('no credits left') }]);
  expect(hosted.requests.reduce((sum, { credits }) => sum + credits, 0)).toBeLessThanOrEqual(200);
  for (const gateway of gateways)
    await expect
      .poll(async () => (await fetch(`${gateway.url}/health/ready`)).json())
      .toMatchObject({ explorers: [{ pause: { reason: 'outOfCredits' } }] });
});

describe.each([
  ['429', { status: 429, json: {}, headers: { 'x-ratelimit-reset': '600000' } }, 'had too many requests'],
  ['402', { status: 402, json: { error: 'Out of credits' } }, 'has no credits left'],
])('a %s', (_, fault, says) => {
  test('that one gets holds back the other as well, also when Redis forgets it', async (context) => {
    await needRedis(context);
    await using opened = await open({ perSecond: 50 });
    const { hosted, first, second, redis } = opened;
    hosted.plant(fault);
    expect((await ask(first)).body).toContain(says);
    const { length } = hosted.requests;
    expect((await ask(second)).body).toContain(says);
    await redis.empty();
    for (const gateway of [first, second]) expect((await ask(gateway)).body).toContain(says);
    expect(hosted.requests).toHaveLength(length);
  });
});

test('without Redis each goes on with its share, and what it finds out is told once Redis is back', async (context) => {
  await needRedis(context);
  await using opened = await open({ perSecond: 1_000 });
  const { hosted, first, second, redis, gateways } = opened;
  hosted.plant(saying(4));
  for (const gateway of gateways) expect((await ask(gateway)).errors).toBeUndefined();
  await redis.crash();
  const failures = async (gateway: Gateway) => {
    await ask(gateway);
    return (await scrape(gateway.url)).sum('gateway_shared_errors_total', { task: 'explorer' });
  };
  for (const gateway of gateways)
    await expect.poll(() => failures(gateway), { timeout: 60_000 }).toBeGreaterThan(0);
  const before = hosted.requests.length;
  for (const { errors } of await askBoth(gateways, 12)) expect(errors).toBeUndefined();
  const alone = hosted.requests.slice(before);
  expect(alone).toHaveLength(12);
  // With the whole rate each would take a second.
  expect(spanOf(alone)).toBeGreaterThan(1_800);
  hosted.mend();
  hosted.plant({ status: 429, json: {}, headers: { 'x-ratelimit-reset': '600000' } });
  expect(codesOf(await ask(first))).toEqual(['UPSTREAM_UNAVAILABLE']);
  await redis.restart();
  hosted.mend();
  await vi.waitFor(
    async () => {
      await ask(first);
      expect((await ask(second)).body).toContain('had too many requests');
    },
    { timeout: 60_000, interval: 200 },
  );
});

test('a page that one has is at hand at the other, and a walk goes on there', async (context) => {
  await needRedis(context);
  await using opened = await open({ perSecond: 50 });
  const { hosted, first, second } = opened;
  const walk = (gateway: Gateway, after: string | null) =>
    gateway.data<{ wallet: { transactions: { nodes: object[]; pageInfo: { endCursor: string } } } }>(
      `query ($address: Address!, $after: String) { wallet(address: $address) {
        transactions(first: 1, after: $after, chainIds: [1]) { nodes { hash } pageInfo { endCursor } } } }`,
      { address: WALLET, after },
    );
  const one = await walk(first, null);
  const { length } = hosted.requests;
  await expect.poll(() => walk(second, null)).toEqual(one);
  const next = await walk(second, one.wallet.transactions.pageInfo.endCursor);
  expect(next.wallet.transactions.nodes).toHaveLength(1);
  expect(next.wallet.transactions.nodes).not.toEqual(one.wallet.transactions.nodes);
  expect(hosted.requests).toHaveLength(length);
});

test('webhooks are refused by name: each would have its own', async (context) => {
  await needRedis(context);
  await using opened = await open();
  const { first } = opened;
  const { body } = await first.query(
    `mutation { createWebhook(input: { name: "mine", type: ACTIVITIES, addresses: ["${WALLET}"], chainIds: [1] }) {
      __typename ... on WebhookError { message } } }`,
  );
  expect(body).toContain('npm run service');
});
