import { describe, expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { newestOf, poll, requestTimeOf, sleep } from '../../support/clients/queries.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { pageAt } from '../../support/clients/walk.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { acceptingKeys, byKey, withKey } from '../../support/gateway/keys.ts';
import { codesOf, type Gateway, startGateway } from '../../support/gateway/start.ts';
import {
  freshAddress,
  history,
  numbered,
  timeAt,
  transactionsEnvelope,
} from '../../support/upstream/builders.ts';
import type { Answer, Reply } from '../../support/upstream/fake-service.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** A wallet that has one more transaction at each request. Each page has its own request time. */
const everNewer = (): {
  answer: Answer;
  hashAt: (request: number) => string;
  timeOf: (request: number) => string;
} => {
  let requests = 0;
  return {
    answer() {
      requests += 1;
      return { json: transactionsEnvelope([numbered(requests)], { request_time: timeAt(requests) }) };
    },
    hashAt: (request) => numbered(request).hash,
    timeOf: (request) => timeAt(request),
  };
};

const startOver = async (env: Record<string, string | undefined> = {}) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const clock = createTestClock();
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, ...env }, clock));
  const address = freshAddress();
  const wallet = everNewer();
  fake.transactions.set(address, wallet.answer);
  return { fake, gateway, clock, address, ...wallet, [Symbol.asyncDispose]: () => made.disposeAsync() };
};

const eventuallyPolls = async (gateway: Gateway, address: string, hash: string): Promise<void> => {
  for (let turn = 0; turn < 1000; turn += 1) {
    if (newestOf(await poll(gateway, address)) === hash) return;
    await sleep(10);
  }
  throw new Error(`expected ${hash} to become the newest`);
};

const HEAD_MS = 2000;

describe('a stale page (stale-while-revalidate)', () => {
  const env = { CACHE_HEAD_MS: String(HEAD_MS) };

  test('is served to all clients while one request refreshes it', async () => {
    await using over = await startOver(env);
    const { gateway, address, fake, answer, hashAt } = over;
    await poll(gateway, address);
    over.clock.advance(HEAD_MS + 50);
    const released = Promise.withResolvers<void>();
    fake.transactions.set(address, async (request) => {
      await released.promise;
      return answer(request);
    });
    const replies = await Promise.all(Array.from({ length: 20 }, () => poll(gateway, address)));
    expect(new Set(replies.map(newestOf))).toEqual(new Set([hashAt(1)]));
    released.resolve();
    await eventuallyPolls(gateway, address, hashAt(2));
    expect(fake.requests).toHaveLength(2);
  });

  test('bills its refresh to the operation that caused it, which does not wait', async () => {
    await using over = await startOver(env);
    const { gateway, address, fake } = over;
    await poll(gateway, address);
    over.clock.advance(HEAD_MS + 50);
    fake.transactions.set(address, () => ({ silent: true }));
    const spent = [await poll(gateway, address), await poll(gateway, address)];
    expect(spent.map(({ extensions }) => extensions.upstream)).toEqual([
      { requests: 1, computeUnits: 1, cached: 1 },
      { requests: 0, computeUnits: 0, cached: 1 },
    ]);
  });

  test('stays cached when its refresh fails', async () => {
    await using over = await startOver({ ...env, CACHE_STALE_MS: '0' });
    const { gateway, address, fake, hashAt } = over;
    await poll(gateway, address);
    over.clock.advance(HEAD_MS + 50);
    fake.transactions.set(address, () => ({ status: 500 }));
    for (let turn = 0; turn < 3; turn += 1) expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
  });

  test('is not requested again before the Retry-After of its refresh has passed', async () => {
    await using over = await startOver({ ...env, CACHE_STALE_MS: '0' });
    const { gateway, address, fake, hashAt } = over;
    await poll(gateway, address);
    over.clock.advance(HEAD_MS + 50);
    fake.transactions.set(address, () => ({ status: 429, headers: { 'retry-after': '5' } }));
    for (let turn = 0; turn < 10; turn += 1) {
      expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
      await sleep(20);
    }
    expect(fake.requests).toHaveLength(2);
  });

  test('keeps its details when a client that needs none causes the refresh', async () => {
    await using over = await startOver(env);
    const { gateway, address, fake } = over;
    await gateway.data(
      'query ($address: Address!) { wallet(address: $address) { transactions { nodes { decoded { name } } } } }',
      { address },
    );
    over.clock.advance(HEAD_MS + 50);
    await poll(gateway, address);
    await eventually(() => fake.requests.length > 1);
    expect(fake.requests.map(({ query }) => query.get('decode'))).toEqual(['true', 'true']);
  });

  test('is no longer served at twice the age: the page is fetched first', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '20' });
    const { gateway, address, hashAt } = over;
    await poll(gateway, address);
    over.clock.advance(100);
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
  });
});

describe('when upstream fails (stale-if-error)', () => {
  const env = { CACHE_HEAD_MS: '0', UPSTREAM_TIMEOUT_MS: '2000' };

  test.each<{ kind: string; reply: Reply }>([
    { kind: '500', reply: { status: 500 } },
    { kind: '503', reply: { status: 503 } },
    { kind: 'the quota is used up', reply: { status: 402 } },
    { kind: 'too many requests', reply: { status: 429 } },
    { kind: 'no answer', reply: { silent: true } },
    { kind: 'a cut answer', reply: { json: { transactions: [] }, cutAfterBytes: 4 } },
    { kind: 'HTML', reply: { text: '<html>Maintenance</html>' } },
    { kind: 'no list of transactions', reply: { json: {} } },
  ])('an older page is served, with its own request time: $kind', async ({ reply }) => {
    await using over = await startOver(env);
    const { gateway, address, fake, hashAt, timeOf } = over;
    await poll(gateway, address);
    fake.transactions.set(address, () => reply);
    const answer = await poll(gateway, address);
    expect(answer.errors).toBeUndefined();
    expect([newestOf(answer), requestTimeOf(answer)]).toEqual([hashAt(1), timeOf(1)]);
    expect(answer.extensions.upstream.requests).toBeGreaterThan(0);
  });

  test('an older page is served when the connection is refused', async () => {
    await using over = await startOver(env);
    const { gateway, address, fake, hashAt } = over;
    await poll(gateway, address);
    await fake.goDown();
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
  });

  test('it is served without a request until the Retry-After has passed, and no longer', async () => {
    await using over = await startOver(env);
    const { gateway, address, clock, fake, answer, hashAt } = over;
    await poll(gateway, address);
    fake.transactions.set(address, () => ({ status: 429, headers: { 'retry-after': '3' } }));
    for (let turn = 0; turn < 5; turn += 1) expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
    expect(fake.requests).toHaveLength(2);
    fake.transactions.set(address, answer);
    clock.advance(2900);
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
    clock.advance(100);
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
    expect(fake.requests).toHaveLength(3);
  });

  test.each([400, 401, 403, 404])(
    'no page is served after a %i, which is a fault of the request',
    async (status) => {
      await using over = await startOver(env);
      const { gateway, address, fake } = over;
      await poll(gateway, address);
      fake.transactions.set(address, () => ({ status }));
      expect(codesOf(await poll(gateway, address))).toEqual(['UPSTREAM_REJECTED']);
    },
  );

  test.each(['0', '20'])('no page older than CACHE_STALE_MS=%s is served', async (staleMs) => {
    await using over = await startOver({ ...env, CACHE_STALE_MS: staleMs });
    const { gateway, address, fake } = over;
    await poll(gateway, address);
    over.clock.advance(50);
    fake.transactions.set(address, () => ({ status: 500 }));
    expect(codesOf(await poll(gateway, address))).toEqual(['UPSTREAM_UNAVAILABLE']);
  });
});

describe('a delivery for an address (invalidation)', () => {
  const invalidation = (address: string, number = 1) => ({
    body: { transactions: [{ address, from: address, hash: numbered(number).hash }] },
  });
  const deliveryUrlOf = async (gateway: Gateway, headers: Record<string, string> = {}) =>
    (await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, headers)).deliveryUrl;

  test('has the next query fetch the page, and caches it for the one after', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '60000' });
    const { gateway, address, hashAt } = over;
    const url = await deliveryUrlOf(gateway);
    await poll(gateway, address);
    expect(await deliver(url, invalidation(address))).toBe(200);
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
  });

  test('does not invalidate the pages of other addresses', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '60000' });
    const { gateway, address, fake } = over;
    const url = await deliveryUrlOf(gateway);
    await poll(gateway, address);
    await deliver(url, invalidation(freshAddress()));
    await poll(gateway, address);
    expect(fake.requests).toHaveLength(1);
  });

  test('invalidates a request in flight: the next query does not join it, and its page replaces no newer one', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '60000' });
    const { gateway, address, fake, answer, hashAt } = over;
    const url = await deliveryUrlOf(gateway);
    const released = Promise.withResolvers<void>();
    fake.transactions.set(address, async (request) => {
      const reply = await answer(request);
      if (fake.requests.length === 1) await released.promise;
      return reply;
    });
    const before = poll(gateway, address);
    await eventually(() => fake.requests.length === 1);
    await deliver(url, invalidation(address));
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
    released.resolve();
    expect(newestOf(await before)).toBe(hashAt(1));
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
    expect(fake.requests).toHaveLength(2);
  });

  test('does not keep the page from being served when upstream fails', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '60000' });
    const { gateway, address, fake, hashAt } = over;
    const url = await deliveryUrlOf(gateway);
    await poll(gateway, address);
    await deliver(url, invalidation(address));
    fake.transactions.set(address, () => ({ status: 500 }));
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
  });

  test("with AUTH=key invalidates the pages of the delivery's own key", async () => {
    await using over = await startOver({
      CACHE_HEAD_MS: '60000',
      ...byKey,
    });
    const { gateway, address, fake } = over;
    fake.script.other = acceptingKeys;
    const [one, other] = [withKey('one-key'), withKey('another-key')];
    const url = await deliveryUrlOf(gateway, one);
    for (const headers of [one, other]) await poll(gateway, address, headers);
    await deliver(url, invalidation(address));
    for (const headers of [one, other]) await poll(gateway, address, headers);
    const keys = fake.requestsFor(address).map(({ headers }) => headers['x-service-api-key']);
    expect(keys).toEqual(['one-key', 'another-key', 'one-key']);
  });
});

test('where offsets count items, an older cached page leaves no gap behind a newer page', async () => {
  const secret = { DELIVERY_SECRET: 'shared-by-both-gateways' };
  await using over = await startOver({ CACHE_HEAD_MS: '0', CACHE_TAIL_MS: '60000', ...secret });
  const { gateway, address, fake } = over;
  const items = history(12);
  fake.transactions.set(address, ({ query }) => {
    const start = Number(query.get('offset') ?? 0);
    const next = start + 4 < items.length ? { next_offset: String(start + 4) } : {};
    return { json: transactionsEnvelope(items.slice(start, start + 4), next) };
  });
  const first = await pageAt(gateway, 'transactions', address, 6);
  // The second gateway has cached no page before this one.
  await using second = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', ...secret });
  await pageAt(second, 'transactions', address, 2, first.pageInfo.endCursor);
  for (let count = 0; count < 3; count += 1) items.unshift(numbered(items.length + 1));
  const whole = await pageAt(second, 'transactions', address, 15);
  expect(whole.edges.map((edge) => edge?.node?.key)).toEqual(items.map(({ hash }) => hash));
});
