import { describe, expect, test } from 'vitest';
import { deliver } from '../support/clients/deliver.ts';
import { newestOf, poll, requestTimeOf, sleep } from '../support/clients/queries.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { pageAt } from '../support/clients/walk.ts';
import { createTestClock } from '../support/gateway/clock.ts';
import { acceptingKeys, byKey, withKey } from '../support/gateway/keys.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import {
  freshAddress,
  history,
  numbered,
  timeAt,
  transactionsEnvelope,
} from '../support/upstream/builders.ts';
import type { Answer, Reply } from '../support/upstream/fake-service.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A wallet with one more transaction at each request, each page with a time of its own. */
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
  throw new Error(`expected ${hash} to come to be the newest`);
};

const HEAD_MS = 2000;

describe('a page that has gone stale', () => {
  const env = { CACHE_HEAD_MS: String(HEAD_MS) };

  test('serves once more for all, while one request refreshes it', async () => {
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

  test('costs the operation that had it refreshed, which does not wait', async () => {
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

  test('is kept when it can not be refreshed', async () => {
    await using over = await startOver({ ...env, CACHE_STALE_MS: '0' });
    const { gateway, address, fake, hashAt } = over;
    await poll(gateway, address);
    over.clock.advance(HEAD_MS + 50);
    fake.transactions.set(address, () => ({ status: 500 }));
    for (let turn = 0; turn < 3; turn += 1) expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
  });

  test('is not asked for again and again while the service wants to be left alone', async () => {
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

  test('stays as rich as it was when it is refreshed for somebody who wants less', async () => {
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

  test('is fetched before answering when it is twice as old', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '20' });
    const { gateway, address, hashAt } = over;
    await poll(gateway, address);
    over.clock.advance(100);
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
  });
});

describe('when the service fails', () => {
  const env = { CACHE_HEAD_MS: '0', UPSTREAM_TIMEOUT_MS: '300' };

  test.each<{ kind: string; reply: Reply }>([
    { kind: '500', reply: { status: 500 } },
    { kind: '503', reply: { status: 503 } },
    { kind: 'the quota is used up', reply: { status: 402 } },
    { kind: 'too many requests', reply: { status: 429 } },
    { kind: 'no answer', reply: { silent: true } },
    { kind: 'a cut answer', reply: { json: { transactions: [] }, cutAfterBytes: 4 } },
    { kind: 'HTML', reply: { text: '<html>Maintenance</html>' } },
    { kind: 'no list of transactions', reply: { json: {} } },
  ])('an older page stands in, and says how old it is: $kind', async ({ reply }) => {
    await using over = await startOver(env);
    const { gateway, address, fake, hashAt, timeOf } = over;
    await poll(gateway, address);
    fake.transactions.set(address, () => reply);
    const answer = await poll(gateway, address);
    expect(answer.errors).toBeUndefined();
    expect([newestOf(answer), requestTimeOf(answer)]).toEqual([hashAt(1), timeOf(1)]);
    expect(answer.extensions.upstream.requests).toBeGreaterThan(0);
  });

  test('with connections refused too', async () => {
    await using over = await startOver(env);
    const { gateway, address, fake, hashAt } = over;
    await poll(gateway, address);
    await fake.goDown();
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
  });

  test('it stands in without a request as long as the service asked to wait, and no longer', async () => {
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
    'nothing stands in for a %i, which is about the request',
    async (status) => {
      await using over = await startOver(env);
      const { gateway, address, fake } = over;
      await poll(gateway, address);
      fake.transactions.set(address, () => ({ status }));
      expect(codesOf(await poll(gateway, address))).toEqual(['UPSTREAM_REJECTED']);
    },
  );

  test.each(['0', '20'])('nor when the page is older than CACHE_STALE_MS=%s', async (staleMs) => {
    await using over = await startOver({ ...env, CACHE_STALE_MS: staleMs });
    const { gateway, address, fake } = over;
    await poll(gateway, address);
    over.clock.advance(50);
    fake.transactions.set(address, () => ({ status: 500 }));
    expect(codesOf(await poll(gateway, address))).toEqual(['UPSTREAM_UNAVAILABLE']);
  });
});

describe('a delivery that concerns an address', () => {
  const invalidation = (address: string, number = 1) => ({
    body: { transactions: [{ address, from: address, hash: numbered(number).hash }] },
  });
  const deliveryUrlOf = async (gateway: Gateway, headers: Record<string, string> = {}) =>
    (await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, headers)).deliveryUrl;

  test('has the next query fetch, and the one after it share', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '60000' });
    const { gateway, address, hashAt } = over;
    const url = await deliveryUrlOf(gateway);
    await poll(gateway, address);
    expect(await deliver(url, invalidation(address))).toBe(200);
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(2));
  });

  test('leaves the pages of other addresses', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '60000' });
    const { gateway, address, fake } = over;
    const url = await deliveryUrlOf(gateway);
    await poll(gateway, address);
    await deliver(url, invalidation(freshAddress()));
    await poll(gateway, address);
    expect(fake.requests).toHaveLength(1);
  });

  test('outdates what is under way: the next query does not join it, and it does not replace what is newer', async () => {
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

  test('still leaves a page to stand in for a service that fails', async () => {
    await using over = await startOver({ CACHE_HEAD_MS: '60000' });
    const { gateway, address, fake, hashAt } = over;
    const url = await deliveryUrlOf(gateway);
    await poll(gateway, address);
    await deliver(url, invalidation(address));
    fake.transactions.set(address, () => ({ status: 500 }));
    expect(newestOf(await poll(gateway, address))).toBe(hashAt(1));
  });

  test("with AUTH=key outdates the pages of the delivery's own key", async () => {
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

test('where offsets count items, a page that was kept alone leaves no gap behind a newer one', async () => {
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
  // Each of these is asked for by its own gateway, which has kept nothing before it.
  await using second = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', ...secret });
  await pageAt(second, 'transactions', address, 2, first.pageInfo.endCursor);
  for (let count = 0; count < 3; count += 1) items.unshift(numbered(items.length + 1));
  const whole = await pageAt(second, 'transactions', address, 15);
  expect(whole.edges.map((edge) => edge?.node?.key)).toEqual(items.map(({ hash }) => hash));
});
