import { expect, test, vi } from 'vitest';
import { createCircuitBreakers } from '../../src/upstream/client/attempt.ts';
import { createUpstreamClient } from '../../src/upstream/client/client.ts';
import { poll, requestTimeOf, sleep } from '../support/clients/queries.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { exhaustedMemory } from '../support/upstream/body-memory.ts';
import { freshAddress, history, timeAt, transactionsEnvelope } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { servingCollectibles, servingTransactions } from '../support/upstream/paging.ts';
import { requestScope } from '../support/upstream/request-scope.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

const down = { status: 503, text: 'down' };

/** The most attempts while upstream fails: ten until the circuit opens, those of the retry budget, and two probes a second. */
const mostAttempts = (sinceMs: number): number => 10 + 5 + 1 + Math.ceil(sinceMs / 500);

test('while upstream is down, cached wallets are served, others fail in bounded time, and few requests are sent', async () => {
  await using fake = await startFakeWallets();
  const env = { CACHE_HEAD_MS: '50', CACHE_STALE_MS: '20000' };
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env });
  const seen = Array.from({ length: 5 }, (_, index) => ({ address: freshAddress(), at: timeAt(index) }));
  for (const { address, at } of seen) {
    fake.transactions.set(address, () => ({ json: transactionsEnvelope(history(2), { request_time: at }) }));
    await poll(gateway, address);
  }
  await sleep(150);

  const before = fake.requests.length;
  const since = Date.now();
  for (const { address } of seen) fake.transactions.set(address, () => down);
  let polls = 0;
  while (Date.now() - since < 3000) {
    const uncached = freshAddress();
    fake.transactions.set(uncached, () => down);
    const replies = await Promise.all(seen.map(({ address }) => poll(gateway, address)));
    expect(replies.map(requestTimeOf)).toEqual(seen.map(({ at }) => at));
    expect(codesOf(await poll(gateway, uncached))).toEqual(['UPSTREAM_UNAVAILABLE']);
    polls += replies.length + 1;
    await sleep(20);
  }
  const attempts = fake.requests.length - before;
  expect(attempts).toBeLessThanOrEqual(mostAttempts(Date.now() - since));
  expect(polls).toBeGreaterThan(attempts);
});

test('the circuit closes when upstream is back, with a request for each lookup', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    CACHE_HEAD_MS: '0',
    CACHE_STALE_MS: '0',
  });
  await fake.goDown();
  for (let turn = 0; turn < 15; turn += 1)
    expect(codesOf(await poll(gateway, freshAddress()))).toEqual(['UPSTREAM_UNAVAILABLE']);

  await fake.comeBack();
  await vi.waitFor(async () => expect(codesOf(await poll(gateway, freshAddress()))).toEqual([]), 60_000);
  const before = fake.requests.length;
  const replies = await Promise.all(Array.from({ length: 50 }, () => poll(gateway, freshAddress())));
  expect(replies.flatMap(codesOf)).toEqual([]);
  expect(fake.requests).toHaveLength(before + 50);
});

test('the first answered probe closes the circuit also for those that wait for it', async () => {
  const breaker = createCircuitBreakers().of('transactions');
  for (let failures = 0; failures < 10; failures += 1) (await breaker.admit(null)).settle('down');
  expect(breaker.isOpen()).toBe(true);
  const probe = await breaker.admit(null);
  const waiting = Array.from({ length: 50 }, () => breaker.admit(null));
  // No timer runs in between: through the front door, the answer may take longer than they wait on a busy machine.
  probe.settle('up');
  const permits = await Promise.all(waiting);
  expect(permits.map((permit) => permit.isValid())).toEqual(waiting.map(() => true));
});

test('requests time out while upstream hangs, and the circuit closes when it answers', async () => {
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_TIMEOUT_MS: '1500', CACHE_HEAD_MS: '0', CACHE_STALE_MS: '0' };
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env });
  const addresses = Array.from({ length: 12 }, () => freshAddress());
  for (const address of addresses) fake.transactions.set(address, () => ({ silent: true }));
  const stuck = await Promise.all(addresses.map((address) => poll(gateway, address)));
  expect(new Set(stuck.flatMap(codesOf))).toEqual(new Set(['UPSTREAM_TIMEOUT']));

  // A probe that hangs does not prevent the next probe.
  const probe = poll(gateway, addresses[0] ?? '');
  expect(codesOf(await poll(gateway, addresses[1] ?? ''))).toEqual(['UPSTREAM_UNAVAILABLE']);
  const back = freshAddress();
  fake.transactions.set(back, servingTransactions(history(2)));
  await sleep(600);
  expect((await poll(gateway, back)).errors).toBeUndefined();
  expect(codesOf(await probe)).toEqual(['UPSTREAM_TIMEOUT']);
});

const lookup = (gateway: Gateway, connection: string) =>
  gateway.query(`{ wallet(address: "${freshAddress()}") { ${connection}(first: 1) { edges { cursor } } } }`);

test('a resource that is down opens its own circuit, also among the answers of another, which goes on', async () => {
  let isDown = true;
  await using fake = await startFakeService({
    transactions: servingTransactions([]),
    collectibles: (request) => (isDown ? down : servingCollectibles([])(request)),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_STALE_MS: '0' });
  const sent = (resource: string) => fake.requests.filter(({ path }) => path.includes(resource)).length;
  for (let turn = 0; turn < 20; turn += 1) {
    expect(codesOf(await lookup(gateway, 'collectibles'))).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(codesOf(await lookup(gateway, 'transactions'))).toEqual([]);
  }
  expect(sent('transactions')).toBe(20);
  const open = { level: 'warn', msg: 'circuit breaker opened', resource: 'collectibles' };
  const changes = gateway.logLines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg.startsWith('circuit'));
  expect(changes).toEqual([expect.objectContaining(open)]);
  const ready = async () => (await fetch(`${gateway.url}/health/ready`)).json();
  const message = expect.stringContaining('collectibles');
  expect(await ready()).toEqual({ status: 'degraded', reasons: [{ part: 'upstream', message }] });

  isDown = false;
  await vi.waitFor(async () => expect(codesOf(await lookup(gateway, 'collectibles'))).toEqual([]), 60_000);
  expect(await ready()).toEqual({ status: 'ready' });
});

test('errors that concern the key or the request do not open the circuit', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  for (let turn = 0; turn < 20; turn += 1) {
    const address = freshAddress();
    fake.transactions.set(address, () => ({ status: [401, 402, 403, 404][turn % 4] ?? 400 }));
    await poll(gateway, address);
  }
  expect(fake.requests).toHaveLength(20);
  expect((await poll(gateway, freshAddress())).errors).toBeUndefined();
});

test('answers that the gateway has no memory for do not open the circuit', async () => {
  await using fake = await startFakeService({ other: () => ({ json: { small: true } }) });
  const client = createUpstreamClient({
    url: fake.url,
    keyHeader: 'X-Key',
    timeoutMs: 20_000,
    connections: 4,
    perSecond: null,
    bodyMemory: exhaustedMemory(),
  });
  try {
    const request = { resource: 'thing', method: 'POST', path: ['thing'], cost: 1 } as const;
    for (let count = 0; count < 12; count += 1)
      await expect(client.request(request, requestScope())).rejects.toMatchObject({
        failure: 'unavailable',
        connection: 'discarded',
      });
    expect(client.openCircuits()).toEqual([]);
    expect(fake.requests).toHaveLength(12);
  } finally {
    await client.close();
  }
});
