import { expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { newestOf, poll } from '../../support/clients/queries.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { freshAddress, history, numbered } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** After a Retry-After a cached page is not requested again until then, but for a minute at most. */

const HOUR = { 'retry-after': '3600' };

/** Starts with a wallet whose page is cached, and whose next request failed. */
const startRefused = async (status: number) => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const clock = createTestClock();
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0' }, clock));
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const address = freshAddress();
  const [older, newer] = [history(3), history(4)];
  fake.transactions.set(address, servingTransactions(older));
  await poll(gateway, address);
  fake.transactions.set(address, () => ({ status, headers: HOUR }));
  await poll(gateway, address);
  fake.transactions.set(address, servingTransactions(newer));
  return {
    clock,
    older: older[0]?.hash,
    newer: newer[0]?.hash,
    newest: async () => newestOf(await poll(gateway, address)),
    asked: () => fake.requests.length,
    invalidation: () =>
      deliver(deliveryUrl, {
        body: { transactions: [{ address, from: address, hash: numbered(4).hash }] },
      }),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

test.each([402, 429, 503])(
  'a %i with a Retry-After of an hour holds for a minute, also for an invalidated page',
  async (status) => {
    await using over = await startRefused(status);
    const asked = over.asked();
    over.clock.advance(30_000);
    expect(await over.newest()).toBe(over.older);
    expect(await over.invalidation()).toBe(200);
    expect(await over.newest()).toBe(over.older);
    expect(over.asked()).toBe(asked);
    over.clock.advance(30_000);
    expect(await over.newest()).toBe(over.newer);
    expect(over.asked()).toBe(asked + 1);
  },
);
