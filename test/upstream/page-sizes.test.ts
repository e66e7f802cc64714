import { expect, test } from 'vitest';
import { keysOf, pageAt, walk } from '../support/clients/walk.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { startOver } from '../support/upstream/cache-configs.ts';
import { servingTransactions } from '../support/upstream/paging.ts';

const HELD = { CACHE_HEAD_MS: '60000', CACHE_TAIL_MS: '60000' };

/** A wallet of 400 transactions at a service whose requests are free, or billed. */
const open = async (isFree: boolean) => {
  await using made = new AsyncDisposableStack();
  const { fake, gateway } = made.use(await startOver({ env: HELD, isFree }));
  const address = freshAddress();
  const items = history(400);
  fake.transactions.set(address, servingTransactions(items));
  const running = made.move();
  return {
    ...{ fake, gateway, address },
    hashes: items.map(({ hash }) => hash),
    /** The sizes of the pages that were asked for, in turn. */
    sizes: () => fake.requestsFor(address).map(({ query }) => Number(query.get('limit'))),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

test('a service that bills each request is asked for whole pages', async () => {
  await using over = await open(false);
  const { gateway, address } = over;
  await walk(gateway, 'transactions', address, 20);
  expect(over.sizes()).toEqual([100, 100, 100, 100]);
});

test('of a free service, pages are as large as what is read of them, and grow with a walk', async () => {
  await using over = await open(true);
  const { gateway, address, hashes } = over;
  expect(keysOf(await walk(gateway, 'transactions', address, 20))).toEqual(hashes);
  expect(over.sizes()).toEqual([20, 100, 100, 100, 100]);
});

test('of a free service, a larger page takes the place of a smaller one, and serves it from then on', async () => {
  await using over = await open(true);
  const { gateway, address, hashes } = over;
  const few = await pageAt(gateway, 'transactions', address, 5, null);
  for (const first of [10, 30, 7, 50])
    expect(keysOf([await pageAt(gateway, 'transactions', address, first, null)])).toEqual(
      hashes.slice(0, first),
    );
  expect(over.sizes()).toEqual([10, 50]);
  const { endCursor } = few.pageInfo;
  expect(keysOf([await pageAt(gateway, 'transactions', address, 5, endCursor)])).toEqual(hashes.slice(5, 10));
  expect(over.sizes()).toEqual([10, 50]);
});

test('of a free service, a list that the gateway filters is read by whole pages', async () => {
  await using over = await open(true);
  const { gateway, address } = over;
  await gateway.data(
    `query ($address: Address!) {
      wallet(address: $address) { balances(first: 5, minPoolSizeUsd: "1") { nodes { amount } } }
    }`,
    { address },
  );
  expect(over.sizes()).toEqual([1000]);
});
