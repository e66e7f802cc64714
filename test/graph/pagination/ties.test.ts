import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keysOf, walk } from '../../support/clients/walk.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress, history, type RestTransaction } from '../../support/upstream/builders.ts';
import { caches, startOver } from '../../support/upstream/cache-configs.ts';
import { answeringThen, growing } from '../../support/upstream/growing-history.ts';
import { type PagingScheme, servingTransactions } from '../../support/upstream/paging.ts';
import { anyBlockSize, anyGrowth, anyScheme } from '../../support/upstream/paging-schemes.ts';

/*
 * Transactions of one block have the same time, so the time alone does not show which of them a walk has passed.
 * When a page shifts, the walk finds its last item by identity. What arrives at the time of an item may be returned.
 */

/** All that was there at the start is returned, once and in its order, and what is returned is in the order of time. */
const expectAllOf = (
  start: readonly string[],
  now: readonly RestTransaction[],
  seen: readonly (string | null)[],
) => {
  expect(seen.filter((hash) => start.includes(hash ?? ''))).toEqual(start);
  expect(new Set(seen).size).toBe(seen.length);
  const times = seen.map((hash) => now.find((item) => item.hash === hash)?.block_time ?? '');
  expect(times).toEqual(times.toSorted().reverse());
};

const someLength = fc.integer({ min: 1, max: 40 });
const someFirst = fc.integer({ min: 1, max: 9 });

type Run = [scheme: PagingScheme, length: number, blockSize: number, growth: number[], first: number];

/** Each growth shifts the last returned item beyond the next page, so that page has only items of its block. */
const beyondTheNextPage: Run[] = [
  [{ by: 'position', sizes: [5], trailingPage: true }, 6, 3, [0, 6], 1],
  [{ by: 'position', sizes: [1, 5] }, 3, 3, [6], 2],
  [{ by: 'position', sizes: [1, 5] }, 18, 3, [3, 6, 0], 5],
];

const forAnyRun = (check: (...run: Run) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(anyScheme, someLength, anyBlockSize, anyGrowth, someFirst, check), {
    numRuns: runs(60),
    examples: beyondTheNextPage,
  });

test.each(caches)(
  'growth between pages brings no gap and no duplicate among transactions of one block, $name',
  async (held) => {
    await using over = await startOver(held);
    const { fake, gateway } = over;
    await forAnyRun(async (scheme, length, blockSize, growth, first) => {
      const address = freshAddress();
      const items = history(length, blockSize);
      const hashes = items.map(({ hash }) => hash);
      fake.transactions.set(address, servingTransactions(items, scheme));
      const grow = growing(items, growth, blockSize);
      expectAllOf(hashes, items, keysOf(await walk(gateway, 'transactions', address, first, grow)));
    });
  },
);

test.each(caches)(
  'growth between the upstream requests of one page loses no item of a block either, $name',
  async (held) => {
    await using over = await startOver(held);
    const { fake, gateway } = over;
    await forAnyRun(async (scheme, length, blockSize, growth, first) => {
      const address = freshAddress();
      const items = history(length, blockSize);
      const hashes = items.map(({ hash }) => hash);
      const serve = servingTransactions(items, scheme);
      fake.transactions.set(address, answeringThen(serve, growing(items, growth, blockSize)));
      expectAllOf(hashes, items, keysOf(await walk(gateway, 'transactions', address, first)));
    });
  },
);
