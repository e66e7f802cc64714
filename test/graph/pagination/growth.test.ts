import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keysOf, pageAt, walk } from '../../support/clients/walk.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { caches, startOver, withoutCache } from '../../support/upstream/cache-configs.ts';
import { answeringThen, expectEndOf, growing } from '../../support/upstream/growing-history.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { anyGrowth, anyScheme } from '../../support/upstream/paging-schemes.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

const someFirst = fc.integer({ min: 1, max: 9 });
const someLength = fc.integer({ min: 1, max: 40 });

describe.each(caches)('while new transactions arrive at the head, $name', (held) => {
  let over: Awaited<ReturnType<typeof startOver>>;
  let fake: FakeWallets;
  let gateway: Gateway;

  beforeAll(async () => {
    over = await startOver(held);
    ({ fake, gateway } = over);
  });

  afterAll(async () => {
    await over[Symbol.asyncDispose]();
  });

  test('between pages, a walk returns the items of its start, each once and in order, and no others', async () => {
    await fc.assert(
      fc.asyncProperty(anyScheme, someLength, anyGrowth, someFirst, async (scheme, length, growth, first) => {
        const address = freshAddress();
        const items = history(length);
        const hashes = items.map(({ hash }) => hash);
        fake.transactions.set(address, servingTransactions(items, scheme));
        const pages = await walk(gateway, 'transactions', address, first, growing(items, growth));
        expect(keysOf(pages)).toEqual(hashes);
      }),
      { numRuns: runs(40) },
    );
  });

  test('between the upstream requests of one page, a walk returns the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyScheme,
        someLength,
        anyGrowth,
        fc.integer({ min: 1, max: 50 }),
        async (scheme, length, growth, first) => {
          const address = freshAddress();
          const items = history(length);
          const serve = servingTransactions(items, scheme);
          fake.transactions.set(address, answeringThen(serve, growing(items, growth)));
          expectEndOf(items, keysOf(await walk(gateway, 'transactions', address, first)), length);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  test('a second walk, started after the head has grown, has no gap and no duplicate', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyScheme,
        someLength,
        fc.integer({ min: 1, max: 12 }),
        someFirst,
        async (scheme, length, growth, first) => {
          const address = freshAddress();
          const items = history(length);
          fake.transactions.set(address, servingTransactions(items, scheme));
          const before = await walk(gateway, 'transactions', address, first);
          expect(keysOf(before)).toEqual(items.map(({ hash }) => hash));
          growing(items, [growth])();
          expectEndOf(items, keysOf(await walk(gateway, 'transactions', address, first)), length);
        },
      ),
      { numRuns: runs(40) },
    );
  });
});

test('when the item of a cursor no longer exists, a walk continues after its block time', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...withoutCache.env });
  await fc.assert(
    fc.asyncProperty(
      anyScheme,
      someLength,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 5 }),
      async (any, length, wanted, blocks) => {
        // Only offsets that name items survive a removal: an index would skip the items that moved up.
        const scheme = { ...any, by: 'item' as const };
        const address = freshAddress();
        const items = history(length);
        const given = Math.min(wanted, length);
        fake.transactions.set(address, servingTransactions(items, scheme));
        const { pageInfo } = await pageAt(gateway, 'transactions', address, given);
        const rest = items.slice(given).map(({ hash }) => hash);
        // A reorg removes the cursor's own block and some newer ones.
        const removed = Math.min(blocks, given);
        items.splice(given - removed, removed);
        const next = await pageAt(gateway, 'transactions', address, 1000, pageInfo.endCursor);
        expect(keysOf([next])).toEqual(rest);
      },
    ),
    { numRuns: runs(40) },
  );
});
