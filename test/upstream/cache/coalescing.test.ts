import { expect, test, vi } from 'vitest';
import { newestOf, poll, sleep } from '../../support/clients/queries.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { pageAt } from '../../support/clients/walk.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import { requestsToBe } from '../../support/gateway/wait-for-requests.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);

test('500 concurrent queries of one uncached wallet are coalesced into one upstream request', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '60000' });
  const address = freshAddress();
  const serve = servingTransactions(history(30));
  fake.transactions.set(address, async (request) => ({ ...(await serve(request)), latencyMs: 300 }));
  const replies = await Promise.all(Array.from({ length: 500 }, () => poll(gateway, address)));
  expect(new Set(replies.map(newestOf)).size).toBe(1);
  expect(fake.requests).toHaveLength(1);
  expect(total(replies.map(({ extensions }) => extensions.upstream.requests))).toBe(1);
  expect(total(replies.map(({ extensions }) => extensions.upstream.computeUnits))).toBe(1);
});

test('50 wallets in one query cost 50 requests, at most UPSTREAM_CONNECTIONS of them concurrent', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_CONNECTIONS: '7' });
  const addresses = Array.from({ length: 50 }, () => freshAddress());
  const serve = servingTransactions(history(3));
  for (const address of addresses)
    fake.transactions.set(address, async (request) => ({ ...(await serve(request)), latencyMs: 30 }));
  const reply = await gateway.query(
    'query ($addresses: [Address!]!) { wallets(addresses: $addresses) { transactions { nodes { hash } } } }',
    { addresses },
  );
  expect(reply.errors).toBeUndefined();
  expect(fake.requests).toHaveLength(50);
  expect(Math.max(...fake.requests.map(({ concurrency }) => concurrency))).toBe(7);
});

test('50 wallets that one query selects twice, with and without details, cost 50 requests, however busy the gateway is', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const addresses = Array.from({ length: 50 }, () => freshAddress());
  const realNow = performance.now.bind(performance);
  let asked = 0;
  // For a while, each look at the clock finds the slice of the event loop used up.
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    asked += 1;
    return realNow() + 11 * Math.min(asked, 500);
  });
  const reply = await gateway.query(
    `query ($addresses: [Address!]!) {
      plain: wallets(addresses: $addresses) { transactions { nodes { hash } } }
      decoded: wallets(addresses: $addresses) { transactions { nodes { decoded { name } } } }
    }`,
    { addresses },
  );
  expect(reply.errors).toBeUndefined();
  expect(fake.requests.map(({ query }) => query.get('decode'))).toEqual(Array(50).fill('true'));
  expect(reply.extensions.upstream).toEqual({ requests: 50, computeUnits: 50, cached: 0 });
});

test('time in the queue does not count against UPSTREAM_TIMEOUT_MS, which runs from sending', async () => {
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_CONNECTIONS: '1', UPSTREAM_TIMEOUT_MS: '1000' };
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env });
  const addresses = Array.from({ length: 6 }, () => freshAddress());
  const serve = servingTransactions(history(3));
  for (const address of addresses)
    fake.transactions.set(address, async (request) => ({ ...(await serve(request)), latencyMs: 250 }));
  const replies = await Promise.all(addresses.map((address) => poll(gateway, address)));
  expect(replies.flatMap(({ errors }) => errors ?? [])).toEqual([]);
});

test('200 browsers that poll one wallet cost at most one request per CACHE_HEAD_MS', async () => {
  await using fake = await startFakeWallets();
  const headMs = 400;
  const clock = createTestClock();
  const env = { UPSTREAM_URL: fake.url, CACHE_HEAD_MS: String(headMs) };
  await using gateway = await startGateway(env, clock);
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(30)));
  const rounds = 8;
  for (let round = 0; round < rounds; round += 1) {
    const replies = await Promise.all(Array.from({ length: 200 }, () => poll(gateway, address)));
    expect(replies.filter(({ errors }) => errors)).toEqual([]);
    clock.advance(150);
  }
  expect(fake.requests.length).toBeGreaterThan(1);
  expect(fake.requests.length).toBeLessThanOrEqual(1 + (rounds * 150) / headMs);
});

test('the rate limit sends at most UPSTREAM_RPS requests per second, and all requests in the end', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_RPS: '50' });
  const since = Date.now();
  const replies = await Promise.all(Array.from({ length: 40 }, () => poll(gateway, freshAddress())));
  expect(replies.flatMap(({ errors }) => errors ?? [])).toEqual([]);
  const times = fake.requests.map(({ at }) => at).toSorted((one, other) => one - other);
  expect(times).toHaveLength(40);
  // A busy machine has requests arrive late, and none early: two clocks differ by a few milliseconds at most.
  for (const [index, time] of times.entries()) expect(time - since).toBeGreaterThanOrEqual(index * 20 - 5);
});

test('a request that the rate limit can not send before the deadline is RATE_LIMITED at once', async () => {
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_RPS: '1', UPSTREAM_TIMEOUT_MS: '1000' };
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env });
  const since = Date.now();
  const replies = await Promise.all(Array.from({ length: 12 }, () => poll(gateway, freshAddress())));
  const seconds = (Date.now() - since) / 1000;
  const faults = replies.flatMap(({ errors }) => errors ?? []);
  expect(new Set(faults.map(({ extensions }) => extensions.code))).toEqual(new Set(['RATE_LIMITED']));
  for (const { extensions } of faults) expect(extensions.retryAfterMs).toBeGreaterThan(0);
  expect(faults.length + fake.requests.length).toBe(12);
  expect(fake.requests.length).toBeLessThanOrEqual(2 + seconds);
});

/** Has no request time out by itself. */
const NO_TIMEOUT = { UPSTREAM_TIMEOUT_MS: '60000' };

/** A client that can disconnect. */
const ask = (url: string, query: string) => {
  const controller = new AbortController();
  const answer = fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    signal: controller.signal,
  }).then(
    (response) => response.json(),
    () => 'gone',
  );
  return { answer, disconnect: () => controller.abort() };
};

const walletQuery = (address: string) =>
  `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;

test('a request is aborted when the last waiting client disconnects, and not before', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...NO_TIMEOUT });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const one = ask(gateway.url, walletQuery(address));
  await eventually(() => fake.requests.length === 1);
  const other = ask(gateway.url, walletQuery(address));
  await requestsToBe(gateway.url, 2);
  one.disconnect();
  await one.answer;
  await sleep(200);
  expect(fake.requests.map(({ abandoned }) => abandoned)).toEqual([false]);
  other.disconnect();
  await eventually(() => fake.requests[0]?.abandoned === true);
  expect(fake.requests).toHaveLength(1);
});

test('a coalesced client gets the answer though the client that started the request has disconnected', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...NO_TIMEOUT });
  const address = freshAddress();
  const released = Promise.withResolvers<void>();
  const serve = servingTransactions(history(2));
  fake.transactions.set(address, async (request) => {
    await released.promise;
    return serve(request);
  });
  const starter = ask(gateway.url, walletQuery(address));
  await eventually(() => fake.requests.length === 1);
  const joiner = ask(gateway.url, walletQuery(address));
  await requestsToBe(gateway.url, 2);
  starter.disconnect();
  await starter.answer;
  await sleep(100);
  released.resolve();
  expect(await joiner.answer).toMatchObject({ data: { wallet: { transactions: { nodes: [{}, {}] } } } });
  expect(fake.requests).toHaveLength(1);
});

test('after an aborted request the next client starts a new one', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...NO_TIMEOUT });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const client = ask(gateway.url, walletQuery(address));
  await eventually(() => fake.requests.length === 1);
  client.disconnect();
  await eventually(() => fake.requests[0]?.abandoned === true);
  fake.transactions.set(address, servingTransactions(history(2)));
  expect((await poll(gateway, address)).errors).toBeUndefined();
});

test('a WebSocket that closes aborts the requests of its queries', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...NO_TIMEOUT });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const dashboard = subscribe(gateway.url, { query: walletQuery(address) });
  await eventually(() => fake.requests.length === 1);
  await dashboard[Symbol.asyncDispose]();
  await eventually(() => fake.requests[0]?.abandoned === true);
});

test('a coalesced client waits until its own deadline, not until that of the client that started the request', async () => {
  await using fake = await startFakeWallets();
  // Each gateway accepts the cursors of the other.
  const env = { UPSTREAM_URL: fake.url, DELIVERY_SECRET: 'shared-by-both-gateways' };
  await using other = await startGateway(env);
  const clock = createTestClock();
  await using gateway = await startGateway(env, clock);
  const address = freshAddress();
  const serve = servingTransactions(history(400));
  fake.transactions.set(address, serve);
  const { pageInfo } = await pageAt(other, 'transactions', address, 300);
  fake.requests.length = 0;
  // After three pages the first client has 1.5 s of its 30 s left for the fourth.
  const released = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    if (fake.requests.length < 4) clock.advance(9500);
    else await released.promise;
    return serve(request);
  });
  const document = `query ($address: Address!, $first: Int, $after: String) {
    wallet(address: $address) { transactions(first: $first, after: $after) { nodes { hash } } }
  }`;
  const starter = gateway.query(document, { address, first: 400 });
  await eventually(() => fake.requests.length === 4);
  const joiner = gateway.query(document, { address, first: 10, after: pageInfo.endCursor });
  expect(codesOf(await starter)).toEqual(['UPSTREAM_TIMEOUT']);
  released.resolve();
  expect((await joiner).errors).toBeUndefined();
  expect(fake.requests).toHaveLength(4);
});
