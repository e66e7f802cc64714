import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/backend/explorer/client/operations.ts';
import type { Cursor } from '../../../src/backend/explorer/client/order.ts';
import { madeUp, WALLET } from '../../support/blockscout/made-up.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { runs } from '../../support/runs.ts';
import { faultOf, LISTS, startAsking } from './support/asking.ts';

const sizes = fc.record({
  transactions: fc.integer({ min: 1, max: 230 }),
  pending: fc.constantFrom(0, 1, 49, 50, 101),
  transfers: fc.integer({ min: 0, max: 160 }),
  internals: fc.integer({ min: 0, max: 160 }),
  logs: fc.integer({ min: 0, max: 120 }),
  tokens: fc.integer({ min: 0, max: 160 }),
  nfts: fc.integer({ min: 0, max: 160 }),
  holders: fc.integer({ min: 0, max: 160 }),
});

describe.each(['11.2.7', '12.0.2'])('Version %s', (version) => {
  test.each(LISTS.map((list) => [list.name, list] as const))(
    'every row of %s comes once, whatever the length of the list',
    async (_, list) => {
      await fc.assert(
        fc.asyncProperty(sizes, fc.constantFrom(undefined, 1, 7, 50, 1000), async (size, limit) => {
          const contents = madeUp(size);
          await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version }] });
          await using asking = startAsking();
          const expected = list.expected(contents);
          // Pages of one row would be as many requests as rows.
          const rows = limit === 1 && expected.length > 60 ? 7 : limit;
          const { ids } = await asking.until(list.walk(asking.client, explorer.chain(), rows));
          expect(ids.toSorted()).toEqual([...expected].toSorted());
        }),
        { numRuns: runs(30, 3) },
      );
    },
  );

  test('pages have as many rows as the version allows, or as are asked for', async () => {
    const contents = madeUp({ transactions: 240, pending: 0 });
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version }] });
    await using asking = startAsking();
    const [list] = LISTS;
    const rowsOf = async (limit?: number) => {
      const { items } = await asking.until(list.page(asking.client, explorer.chain(), null, limit));
      return items.length;
    };
    const isSized = version.startsWith('12');
    expect(await rowsOf()).toBe(isSized ? 100 : 50);
    expect(await rowsOf(20)).toBe(isSized ? 20 : 50);
    expect(await rowsOf(5000)).toBe(isSized ? 100 : 50);
  });

  test('a cursor may be made by hand, of any row', async () => {
    const contents = madeUp({ transactions: 90, transfers: 90 });
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version }] });
    await using asking = startAsking();
    const { client } = asking;
    const wanted = { address: WALLET };
    const rest = async (block_number: number, index: number) => {
      const page = client.list(
        explorer.chain(),
        OPERATIONS.addressTransactions,
        wanted,
        { block_number, index },
        client.lookup('hand'),
      );
      return (await asking.until(page)).items.map(({ block_number: block, position }) => [block, position]);
    };
    const all = await rest(1_000_000, 0);
    for (const [at, [block = 0, index = 0]] of [...all.entries()].slice(0, 20))
      expect((await rest(block, index)).slice(0, 10)).toEqual(all.slice(at + 1, at + 11));
  });
});

describe('The dialect', () => {
  const contents = madeUp({ transactions: 230, pending: 60 });
  const [list] = LISTS;
  const expected = list.expected(contents).toSorted();

  test.each([
    ['is not said', { json: { backend_version: null } }],
    ['is not a version', { json: { backend_version: 'main' } }],
    ['can not be asked for', { status: 500, json: { message: 'oh' } }],
    ['has no route', { status: 404, json: { message: 'Not found' } }],
  ])('shows in the first cursor where the version %s', async (_, fault) => {
    for (const version of ['11.2.7', '12.0.2']) {
      await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version }] });
      await using asking = startAsking();
      explorer.plant(fault, ({ path }) => path.endsWith('/backend-version'));
      const { ids } = await asking.until(list.walk(asking.client, explorer.chain()));
      expect(ids.toSorted()).toEqual(expected);
    }
  });

  test.each([
    ['11.2.7', '12.0.2'],
    ['12.0.2', '11.2.7'],
  ])('may change from %s to %s during a walk', async (before, after) => {
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version: before }] });
    await using asking = startAsking();
    const { client } = asking;
    const chain = explorer.chain();
    const page = await asking.until(list.page(client, chain));
    explorer.update(after);
    const ids = page.items.map(list.idOf);
    for (let { next } = page; next !== null; ) {
      const following = await asking.until(list.page(client, chain, next));
      ids.push(...following.items.map(list.idOf));
      next = following.next;
    }
    expect(ids.toSorted()).toEqual(expected);
  });

  test('is asked for once, and own parameters go with each page', async () => {
    await using explorer = await startBlockscout({
      chains: [{ id: 1, contents: madeUp({ transfers: 300 }) }],
    });
    await using asking = startAsking();
    const { client } = asking;
    const ask = async (cursor: Cursor | null) => {
      const wanted = { address: WALLET, filter: 'to', types: ['ERC-20', 'ERC-721'] } as const;
      const lookup = client.lookup('one');
      return client.list(explorer.chain(), OPERATIONS.addressTokenTransfers, wanted, cursor, lookup);
    };
    const both = Promise.all([ask(null), ask({ block_number: 5, index: 0 })]);
    const [{ next }] = await asking.until(both);
    expect(next).not.toBeNull();
    await asking.until(ask(next));
    const [version, ...pages] = explorer.requests;
    expect(version?.path).toBe('/v2/config/backend-version');
    expect(pages).toHaveLength(3);
    for (const { query } of pages)
      expect(Object.fromEntries(query)).toMatchObject({
        ...{ filter: 'to', type: 'ERC-20,ERC-721', items_count: '100' },
      });
  });

  test('of a version before 11 is not spoken', async () => {
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version: '10.2.6' }] });
    await using asking = startAsking();
    const { client } = asking;
    expect(await faultOf(asking.until(list.page(client, explorer.chain())))).toEqual({
      kind: 'tooOld',
      major: 10,
    });
    const version = client.version(explorer.chain(), client.lookup('start'));
    expect(await faultOf(asking.until(version))).toEqual({ kind: 'tooOld', major: 10 });
  });
});
