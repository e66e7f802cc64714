import { expect, test } from 'vitest';
import { ALICE, BOB } from '../backend/dispatch/support/builders.ts';
import { said, startBendingProxy } from '../contract/support/bending-proxy.ts';
import { expectUnchanged, ifNot, tagOf } from '../support/clients/conditional.ts';
import { activity, deliver } from '../support/clients/deliver.ts';
import { postEncoded } from '../support/clients/encoded.ts';
import { sleep } from '../support/clients/queries.ts';
import { createTestClock } from '../support/gateway/clock.ts';
import { deliveryPathOf } from '../support/gateway/on-redis.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { idOf, startTrusting } from '../support/gateway/trusted.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { freshAddress, numbered } from '../support/upstream/builders.ts';
import { BLOCKS } from './support/block-fixtures.ts';
import { change, createdId } from './support/documents.ts';
import { startManaged } from './support/managed.ts';

/** A page of a wallet whose events are delivered here is fetched when a delivery names it, and not by its age. */

const env = { CACHE_HEAD_MS: '0', CACHE_STALE_MS: '0' };

type Usage = { requests: number; computeUnits: number; cached: number; watched?: number };

const cost = async (gateway: Gateway, address: string = ALICE, filter = ''): Promise<Usage> => {
  const reply = await gateway.query(
    `query ($address: Address!) { wallet(address: $address) { transactions(first: 5${filter}) { nodes { hash } } } }`,
    { address },
  );
  expect(reply.errors).toBeUndefined();
  return reply.extensions.upstream;
};

const WATCHED: Usage = { requests: 0, computeUnits: 0, cached: 1, watched: 1 };
const FETCHED: Usage = { requests: 1, computeUnits: 1, cached: 0 };

/** The lists are read in the background. */
const untilWatched = async (gateway: Gateway, address: string = ALICE): Promise<void> => {
  await expect.poll(() => cost(gateway, address)).toEqual(WATCHED);
};

/** The types that together tell each change of a list of transactions. Resolves with the webhook of each. */
const createBoth = async (gateway: Gateway, input: Record<string, unknown>): Promise<readonly string[]> => [
  await createdId(gateway, { ...input, type: 'TRANSACTIONS' }),
  await createdId(gateway, { ...input, type: 'ACTIVITIES' }),
];

const WATCH = 'mutation ($address: Address!) { watchWallet(input: { address: $address }) { __typename } }';

const watch = (gateway: Gateway, address: string = ALICE) => gateway.data(WATCH, { address });

test('a watched wallet costs nothing until a delivery names it, and then one request', async () => {
  await using managed = await startManaged(env);
  const { gateway, sandbox } = managed;
  await watch(gateway);
  await untilWatched(gateway);
  for (let times = 0; times < 20; times += 1) expect(await cost(gateway)).toEqual(WATCHED);
  expect(await cost(gateway, BOB)).toEqual(FETCHED);

  for (const block of BLOCKS) sandbox.webhooks.handleBlock(block);
  await sandbox.webhooks.settled();
  expect(await cost(gateway)).toEqual(FETCHED);
  expect(await cost(gateway)).toEqual(WATCHED);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(
    /gateway_page_cache_requests_total\{resource="transactions",result="watched"\} 2\d/,
  );
});

test('a webhook that is turned off, filtered, narrowed or deleted makes its wallet cost again at once', async () => {
  await using managed = await startManaged(env);
  const { gateway } = managed;
  const [webhookId, other] = await createBoth(gateway, { addresses: [ALICE, BOB] });
  const changes: (() => Promise<unknown>)[] = [
    () => change(gateway, 'updateWebhook', { webhookId, active: false }),
    () => change(gateway, 'updateWebhook', { webhookId, counterparty: BOB }),
    () => change(gateway, 'updateWebhook', { webhookId, chainIds: [1] }),
    () => change(gateway, 'updateWebhook', { webhookId, url: 'https://elsewhere.test/' }),
    () => change(gateway, 'updateWebhookAddresses', { webhookId, removeAddresses: [ALICE] }),
  ];
  for (const apply of changes) {
    await untilWatched(gateway);
    await apply();
    expect(await cost(gateway)).toEqual(FETCHED);
    // Also once the lists have been read again.
    await sleep(300);
    expect(await cost(gateway)).toEqual(FETCHED);
    await change(gateway, 'updateWebhook', { webhookId, active: true, counterparty: null, chainIds: null });
    await change(gateway, 'connectWebhook', { webhookId });
    await change(gateway, 'replaceWebhookAddresses', { webhookId, addresses: [ALICE, BOB] });
  }
  await untilWatched(gateway, BOB);
  await change(gateway, 'deleteWebhook', { webhookId: other });
  expect(await cost(gateway, BOB)).toEqual(FETCHED);
});

test('webhooks of transactions alone do not tell of tokens that come, so their list is not watched', async () => {
  await using managed = await startManaged(env);
  const { gateway } = managed;
  await gateway.data(
    'mutation ($address: Address!) { watchWallet(input: { address: $address, types: [TRANSACTIONS] }) { __typename } }',
    { address: ALICE },
  );
  for (let times = 0; times < 3; times += 1) expect(await cost(gateway)).toEqual(FETCHED);
  await watch(gateway);
  await untilWatched(gateway);
});

test('a page with failures is fetched each time, and what is back on the next one is not news', async () => {
  await using managed = await startManaged();
  await using proxy = await startBendingProxy(managed.sandbox.url);
  /** The service answers with these transactions, and with this beside them. */
  const serve = (transactions: readonly object[], beside: object = {}) =>
    proxy.bend({
      request: ({ path }) =>
        path.includes('/transactions/') ? said(200, { transactions, ...beside }) : undefined,
    });
  const [newer, older] = [numbered(2), numbered(1)];
  serve([newer, older]);
  await using gateway = await startGateway({ ...env, UPSTREAM_URL: proxy.url });
  await watch(gateway);
  await untilWatched(gateway);

  serve([older], { errors: { error_message: 'One chain could not be read' } });
  const path = await deliveryPathOf(gateway.url);
  expect(await deliver(gateway.url + path, { body: activity(1, ALICE) })).toBe(200);
  for (let times = 0; times < 3; times += 1) expect(await cost(gateway)).toEqual(FETCHED);

  serve([newer, older]);
  expect(await cost(gateway)).toEqual(FETCHED);
  expect(await cost(gateway)).toEqual(WATCHED);
});

test('chains that the webhook does not deliver are not watched', async () => {
  await using managed = await startManaged(env);
  const { gateway } = managed;
  await createBoth(gateway, { addresses: [ALICE], chainIds: [1] });
  const ofChain = () => cost(gateway, ALICE, ', chainIds: [1]');
  await expect.poll(ofChain).toEqual(WATCHED);
  expect(await cost(gateway)).toEqual(FETCHED);
  expect(await cost(gateway, ALICE, ', chainIds: [1, 8453]')).toEqual(FETCHED);
});

test('CACHE_WATCHED_MS=0 turns it off, and nothing reads the lists', async () => {
  await using managed = await startManaged({ ...env, CACHE_WATCHED_MS: '0' });
  const { gateway } = managed;
  await watch(gateway);
  for (let times = 0; times < 3; times += 1) {
    expect(await cost(gateway)).toEqual(FETCHED);
    await sleep(100);
  }
});

test('a watched page is fetched again after CACHE_WATCHED_MS', async () => {
  await using managed = await startManaged({ ...env, CACHE_WATCHED_MS: '1500' });
  const { gateway } = managed;
  await watch(gateway);
  await untilWatched(gateway);
  await expect.poll(() => cost(gateway), { interval: 100 }).toMatchObject({ requests: 1 });
  await untilWatched(gateway);
});

test('a client asks for a watched page each time, and gets no data while it is the same', async () => {
  const clock = createTestClock();
  await using managed = await startManaged(env);
  const list = `query ($address: Address!, $chainIds: [ChainId!]) {
    wallet(address: $address) { transactions(chainIds: $chainIds) { nodes { hash } } }
  }`;
  const trusting = { ...env, UPSTREAM_URL: managed.sandbox.url };
  await using gateway = await startTrusting([list, WATCH], trusting, clock);
  const watching = { documentId: idOf(WATCH), variables: { address: ALICE } };
  expect((await postEncoded(gateway.url, watching)).status).toBe(200);
  const get = (chainIds: readonly number[] | null, headers = {}) =>
    gateway.get(list, { address: ALICE, chainIds }, headers);
  const costOf = ({ text }: { readonly text: string }) => JSON.parse(text).extensions.upstream;
  await expect.poll(async () => costOf(await get(null))).toEqual(WATCHED);
  // Deliveries have named the wallet since before a page of this list was fetched.
  clock.advance(20_000);
  expect(costOf(await get([1]))).toEqual(FETCHED);
  const answer = await get([1]);
  expect(costOf(answer)).toEqual(WATCHED);
  // A cache of the client would not see the delivery that ends the page's freshness.
  expect(answer.headers['cache-control']).toBe('private, no-cache');
  expectUnchanged(await get([1], ifNot(tagOf(answer))));
});

test('two hundred pollers of ten watched wallets cost less than a tenth of what they cost unwatched', async () => {
  const wallets = Array.from({ length: 10 }, () => freshAddress());
  /** The compute units of a minute in which each wallet is polled every second, as by twenty dashboards every 20 s. */
  const minute = async (watched: boolean): Promise<number> => {
    let now = 0;
    await using managed = await startManaged({}, { now: () => now });
    const { gateway } = managed;
    if (watched) {
      for (const address of wallets) await watch(gateway, address);
      await expect
        .poll(async () => {
          now += 1000;
          return (await cost(gateway, wallets[0])).watched;
        })
        .toBe(1);
    }
    let computeUnits = 0;
    for (const end = now + 60_000; now < end; now += 1000)
      for (const address of wallets) computeUnits += (await cost(gateway, address)).computeUnits;
    return computeUnits;
  };
  const unwatched = await minute(false);
  expect(unwatched).toBeGreaterThan(250);
  expect(await minute(true)).toBeLessThanOrEqual(unwatched / 10);
});

test('a delivery that arrives at another gateway has both fetch the page, and both know the wallet from then on', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const shared = { ...env, REDIS_URL: redis.url, AUTH: 'open', PUBLIC_URL: 'http://gateways.test' };
  await using managed = await startManaged(shared);
  const first = managed.gateway;
  await using second = await startGateway({ ...shared, UPSTREAM_URL: managed.sandbox.url });
  await watch(first);
  await untilWatched(first);
  const path = await deliveryPathOf(second.url);
  expect(await deliver(second.url + path, { body: activity(1, ALICE) })).toBe(200);
  await expect.poll(async () => (await cost(first)).requests).toBe(1);
  await untilWatched(first);
  await untilWatched(second);
});
