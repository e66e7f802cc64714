import { describe, expect, test } from 'vitest';
import { keysOf, pageAt, walk } from '../../support/clients/walk.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import {
  collection,
  freshAddress,
  history,
  type RestCollectible,
  timeAt,
} from '../../support/upstream/builders.ts';
import { withoutCache } from '../../support/upstream/cache-configs.ts';
import { answeringThen } from '../../support/upstream/growing-history.ts';
import { servingCollectibles, servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** Items that move between two pages, or between two requests of a client. */

const COLLECTIBLES = `query ($address: Address!, $first: Int, $after: String) {
  wallet(address: $address) { collectibles(first: $first, after: $after) { nodes { tokenId } } }
}`;

const start = async () => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, ...withoutCache.env }));
  const running = made.move();
  return { fake, gateway, address: freshAddress(), [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const idsOf = (items: readonly RestCollectible[]) => items.map(({ token_id }) => token_id);
const move = <Item>(items: Item[], from: number, to: number) =>
  void items.splice(to, 0, ...items.splice(from, 1));

test('of 2,500 collectibles, one that falls across a seam takes no others with it', async () => {
  await using started = await start();
  const { fake, gateway, address } = started;
  const items = collection(2500);
  const ids = idsOf(items);
  let pages = 0;
  const fall = () => {
    pages += 1;
    if (pages === 1) move(items, 249, 750);
  };
  fake.collectibles.set(address, answeringThen(servingCollectibles(items, { by: 'position' }), fall));
  const { edges } = await pageAt(gateway, 'collectibles', address, 5000);
  // The one that moved up onto the first page, behind the gateway's back, was on no page that it read.
  expect(edges.map((edge) => edge?.node?.key)).toEqual(ids.filter((_id, index) => index !== 250));
});

describe('between two requests', () => {
  test.each([
    ['the item of the cursor rises', (items: RestCollectible[]) => move(items, 9, 1)],
    ['the item of the cursor falls', (items: RestCollectible[]) => move(items, 9, 25)],
    ['the item behind it rises', (items: RestCollectible[]) => move(items, 10, 0)],
    ['the item behind it falls', (items: RestCollectible[]) => move(items, 10, 28)],
    ['an item before it falls', (items: RestCollectible[]) => move(items, 8, 20)],
    [
      'the item of the cursor and the next one are gone',
      (items: RestCollectible[]) => void items.splice(9, 2),
    ],
    ['all items up to the cursor are gone', (items: RestCollectible[]) => void items.splice(0, 10)],
  ])('%s: no item that stayed is lost or doubled', async (_what, change) => {
    await using started = await start();
    const { fake, gateway, address } = started;
    const items = collection(30);
    const before = idsOf(items);
    fake.collectibles.set(address, servingCollectibles(items));
    let pages = 0;
    const changeOnce = () => {
      pages += 1;
      if (pages === 1) change(items);
    };
    const returned = keysOf(await walk(gateway, 'collectibles', address, 10, changeOnce));
    const moved = new Set([...before.slice(8, 11), ...before.filter((id) => !idsOf(items).includes(id))]);
    const staying = (ids: readonly (string | null)[]) => ids.filter((id) => !moved.has(id ?? ''));
    expect(staying(returned)).toEqual(staying([...before.slice(0, 10), ...before.slice(10)]));
  });

  test('where the item of a cursor and all next to it are gone, it is CURSOR_EXPIRED: nothing is passed over', async () => {
    await using started = await start();
    const { fake, gateway, address } = started;
    const items = collection(30);
    fake.collectibles.set(address, servingCollectibles(items));
    const { pageInfo } = await pageAt(gateway, 'collectibles', address, 10);
    items.splice(7, 5);
    const reply = await gateway.query(COLLECTIBLES, { address, first: 10, after: pageInfo.endCursor });
    expect(codesOf(reply)).toEqual(['CURSOR_EXPIRED']);
    expect(reply.errors?.[0]?.extensions).toMatchObject({ reason: 'moved' });
  });

  test('a transaction that another block has after a reorg is where its time was', async () => {
    for (const seconds of [1000, 5]) {
      await using started = await start();
      const { fake, gateway, address } = started;
      const items = history(30);
      const hashes = items.map(({ hash }) => hash);
      fake.transactions.set(address, servingTransactions(items));
      const { pageInfo } = await pageAt(gateway, 'transactions', address, 10);
      const [mined] = items.splice(9, 1);
      if (!mined) throw new TypeError('Expected ten transactions.');
      items.push({ ...mined, block_time: timeAt(seconds) });
      items.sort((one, other) => other.block_time.localeCompare(one.block_time));
      const next = await pageAt(gateway, 'transactions', address, 1000, pageInfo.endCursor);
      expect(keysOf([next]).filter((hash) => hash !== mined.hash)).toEqual(hashes.slice(10));
    }
  });
});
