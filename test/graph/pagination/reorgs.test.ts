import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keysOf, type Page, walk } from '../../support/clients/walk.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { caches, startOver } from '../../support/upstream/cache-configs.ts';
import { type Moving, MovingList, type Paging } from './support/moving-list.ts';
import { envelope, LOOKUPS_BY_TIME, nameOf } from './support/timed-items.ts';
import { codeOf, walkAll } from './support/walk-all.ts';

/*
 * The laws of pagination in lists by time, with several items at once and on several chains: an item that is there throughout
 * a walk, and stays where it is, is returned once, whatever reorgs do to the others, or the walk ends in CURSOR_EXPIRED.
 */

const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }).map((few) => [...few, 7]);
/** Long enough to show that the items are in no order. */
const longSizes = fc.array(fc.integer({ min: 5, max: 9 }), { minLength: 1, maxLength: 3 });
const someLength = fc.integer({ min: 0, max: 40 });
const someFirst = fc.constantFrom(1, 2, 3, 5, 8, 1000);
const someTimes = fc.record({
  /** Up to a whole list in one second. */
  atOnce: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 40 })),
  chains: fc.integer({ min: 1, max: 3 }),
});

const movesOf = (most: number, ...kinds: readonly Moving['kind'][]): fc.Arbitrary<(Moving | null)[]> =>
  fc.array(
    fc.option(
      fc.record({
        item: fc.nat(),
        to: fc.double({ min: 0, max: 1, noNaN: true }),
        kind: fc.constantFrom(...kinds),
        count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: most })),
      }),
    ),
    { maxLength: 40 },
  );

const REORGS = [
  ['whatever is removed, mined again and new', 'key', movesOf(12, 'move', 'shuffle', 'remove', 'insert')],
  ['whatever is new and newer, where offsets count items', 'position', movesOf(12, 'rise', 'insert')],
] as const;

/** See above. */
const expectLaws = (
  names: readonly string[],
  moved: ReadonlySet<string>,
  requests: readonly (readonly string[])[],
  end: unknown,
) => {
  const staying = names.filter((name) => !moved.has(name));
  const returned = requests.flat().filter((name) => staying.includes(name));
  expect(returned).toEqual(end === 'CURSOR_EXPIRED' ? staying.slice(0, returned.length) : staying);
};

/** Returns the code of a page that could not be had. */
const codeIn = (error: Error): string => {
  if (error.message.includes('CURSOR_EXPIRED')) return 'CURSOR_EXPIRED';
  throw error;
};

/** Offsets of activity are places in its list. */
const KINDS = LOOKUPS_BY_TIME.map((lookup) => ({
  lookup,
  reorgs: lookup.name === 'activity' ? REORGS.slice(0, 1) : REORGS,
}));

describe.each(KINDS)('of $lookup.name', ({ lookup, reorgs }) => {
  test.each(caches)('no item that stays is lost or doubled, $name', async (held) => {
    await using over = await startOver(held);
    const { fake, gateway } = over;
    for (const [, by, someMoves] of reorgs)
      await fc.assert(
        fc.asyncProperty(
          sizes,
          someLength,
          someTimes,
          someMoves,
          someFirst,
          async (sizes, length, atOnce, moves, first) => {
            const list = new MovingList('newestFirst', length, { by, sizes }, atOnce);
            const { names } = list;
            list.movesAfterReads(moves);
            const address = freshAddress();
            fake.scriptsOf(lookup).set(address, ({ query }) => {
              const { items, nextOffset } = list.serve(query.get('offset'));
              return { json: envelope(items, nextOffset) };
            });
            const pages: Page[] = [];
            const end = await walk(gateway, lookup.name, address, first, () => {}, pages).catch(codeIn);
            const requests = pages.map((page) => keysOf([page]).map(nameOf));
            expectLaws(names, list.moved, requests, end);
          },
        ),
        { numRuns: runs(30) },
      );
  });
});

describe('a list by time, with several items at once', () => {
  test.each(REORGS)('no item that stays is lost or doubled, %s', async (_what, by, someMoves) => {
    let walks = 0;
    let expired = 0;
    await fc.assert(
      fc.asyncProperty(
        sizes,
        someLength,
        someTimes,
        someMoves,
        someFirst,
        async (sizes, length, times, moves, first) => {
          const paging: Paging = { by, sizes };
          const list = new MovingList('newestFirst', length, paging, times);
          const { names } = list;
          list.movesAfterReads(moves);
          const requests: string[][] = [];
          const end = await walkAll(list, first, requests).catch(codeOf);
          expectLaws(names, list.moved, requests, end);
          for (const request of requests) expect(new Set(request).size).toBe(request.length);
          walks += 1;
          if (end === 'CURSOR_EXPIRED') expired += 1;
        },
      ),
      { numRuns: runs(600) },
    );
    expect(expired).toBeLessThan(walks / 10);
  });

  test('that the service has in another order loses none either', async () => {
    let walks = 0;
    let expired = 0;
    const paging = fc.record({ by: fc.constantFrom('key' as const, 'position' as const), sizes: longSizes });
    /** After that many items times begin anew, as where a service lists one chain after the other. */
    const someSeconds = fc.integer({ min: 2, max: 20 });
    await fc.assert(
      fc.asyncProperty(
        paging,
        someLength,
        someSeconds,
        movesOf(1, 'insert'),
        someFirst,
        async (scheme, length, seconds, moves, first) => {
          const list = new MovingList('newestFirst', length, scheme, { atOnce: 1, chains: 1, seconds });
          const { names } = list;
          list.movesAfterReads(moves);
          const requests: string[][] = [];
          const end = await walkAll(list, first, requests).catch(codeOf);
          expectLaws(names, list.moved, requests, end);
          for (const request of requests) expect(new Set(request).size).toBe(request.length);
          walks += 1;
          if (end === 'CURSOR_EXPIRED') expired += 1;
        },
      ),
      { numRuns: runs(300) },
    );
    expect(expired).toBeLessThan(walks / 10);
  });
});
