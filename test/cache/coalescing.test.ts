import { expect, test } from 'vitest';
import { newestOf, poll, sleep } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { pageAt } from '../support/clients/walk.ts';
import { codesOf, startGateway } from '../support/gateway/start.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);

test('500 clients who ask for the same cold wallet at once cost one request', async () => {
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

test('50 wallets in one query cost 50 requests, at most UPSTREAM_CONNECTIONS of them at a time', async () => {
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

test('a queue that is longer than one attempt takes is no failure: time runs from when a request is sent', async () => {
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
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: String(headMs) });
  const address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(30)));
  const since = Date.now();
  let polls = 0;
  for (let turn = 0; turn < 12; turn += 1) {
    const replies = await Promise.all(Array.from({ length: 200 }, () => poll(gateway, address)));
    expect(replies.filter(({ errors }) => errors)).toEqual([]);
    polls += replies.length;
    await sleep(100);
  }
  expect(polls).toBe(2400);
  expect(fake.requests.length).toBeGreaterThan(1);
  expect(fake.requests.length).toBeLessThanOrEqual(1 + (Date.now() - since) / headMs);
});

test('no more than UPSTREAM_RPS requests go out in a second, and all get their turn', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_RPS: '50' });
  const replies = await Promise.all(Array.from({ length: 40 }, () => poll(gateway, freshAddress())));
  expect(replies.flatMap(({ errors }) => errors ?? [])).toEqual([]);
  const times = fake.requests.map(({ at }) => at).toSorted((one, other) => one - other);
  expect(times).toHaveLength(40);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(39 * 20 - 60);
});

test('what UPSTREAM_RPS can not let through within the time of an operation is refused at once', async () => {
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_RPS: '1', UPSTREAM_TIMEOUT_MS: '1000' };
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env });
  const replies = await Promise.all(Array.from({ length: 12 }, () => poll(gateway, freshAddress())));
  const faults = replies.flatMap(({ errors }) => errors ?? []);
  expect(new Set(faults.map(({ extensions }) => extensions.code))).toEqual(new Set(['RATE_LIMITED']));
  for (const { extensions } of faults) expect(extensions.retryAfterMs).toBeGreaterThan(0);
  expect(faults.length + fake.requests.length).toBe(12);
  expect(fake.requests.length).toBeLessThanOrEqual(4);
});

/** So that a request which ends before does not end by itself. */
const patient = { UPSTREAM_TIMEOUT_MS: '60000' };

/** A client that can go away. */
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
  return { answer, leave: () => controller.abort() };
};

const walletQuery = (address: string) =>
  `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;

test('a request is aborted when the last client who waits for it goes away, and not before', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const one = ask(gateway.url, walletQuery(address));
  await eventually(() => fake.requests.length === 1);
  const other = ask(gateway.url, walletQuery(address));
  await sleep(100);
  one.leave();
  await one.answer;
  await sleep(200);
  expect(fake.requests.map(({ abandoned }) => abandoned)).toEqual([false]);
  other.leave();
  await eventually(() => fake.requests[0]?.abandoned === true);
  expect(fake.requests).toHaveLength(1);
});

test('who stays gets the answer that another asked for', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
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
  await sleep(100);
  starter.leave();
  await starter.answer;
  await sleep(100);
  released.resolve();
  expect(await joiner.answer).toMatchObject({ data: { wallet: { transactions: { nodes: [{}, {}] } } } });
  expect(fake.requests).toHaveLength(1);
});

test('a request that was aborted leaves the next client a new one', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const impatient = ask(gateway.url, walletQuery(address));
  await eventually(() => fake.requests.length === 1);
  impatient.leave();
  await eventually(() => fake.requests[0]?.abandoned === true);
  fake.transactions.set(address, servingTransactions(history(2)));
  expect((await poll(gateway, address)).errors).toBeUndefined();
});

test('a WebSocket that closes takes its queries with it', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const dashboard = subscribe(gateway.url, { query: walletQuery(address) });
  await eventually(() => fake.requests.length === 1);
  await dashboard[Symbol.asyncDispose]();
  await eventually(() => fake.requests[0]?.abandoned === true);
});

test('who joins a request that another started waits for it in its own time, not in what the other had left', async () => {
  await using fake = await startFakeWallets();
  // One takes up the other's cursor.
  const env = { UPSTREAM_URL: fake.url, DELIVERY_SECRET: 'shared-by-both-gateways' };
  await using quick = await startGateway(env);
  await using gateway = await startGateway({ ...env, UPSTREAM_TIMEOUT_MS: '1000' });
  const address = freshAddress();
  const serve = servingTransactions(history(400));
  fake.transactions.set(address, serve);
  const { pageInfo } = await pageAt(quick, 'transactions', address, 300);
  fake.requests.length = 0;
  // Three pages leave the first client 600 ms of its three seconds for a fourth that takes 900.
  fake.transactions.set(address, async (request) => ({
    ...(await serve(request)),
    latencyMs: fake.requests.length < 4 ? 800 : 900,
  }));
  const document = `query ($address: Address!, $first: Int, $after: String) {
    wallet(address: $address) { transactions(first: $first, after: $after) { nodes { hash } } }
  }`;
  const starter = gateway.query(document, { address, first: 400 });
  await eventually(() => fake.requests.length === 4);
  const joined = await gateway.query(document, { address, first: 10, after: pageInfo.endCursor });
  expect(joined.errors).toBeUndefined();
  expect(codesOf(await starter)).toEqual(['UPSTREAM_TIMEOUT']);
  expect(fake.requests).toHaveLength(4);
});
