import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../support/runs.ts';
import { type Moving, MovingList, type Paging } from './support/moving-list.ts';
import { codeOf, walkAll } from './support/walk-all.ts';

/*
 * The laws of pagination in lists whose items move both ways: each item that stayed where it was is returned once, whatever
 * the others did between any two pages. An item that moves is returned once by one request; over several requests it may
 * be missed, or come again further down.
 */

const ORDERS = ['unordered', 'descendingBy'] as const;
const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }).map((few) => [...few, 7]);
/** Long enough for neighbours on both sides. */
const someSizes = fc.array(fc.integer({ min: 5, max: 9 }), { minLength: 1, maxLength: 3 });
const someLength = fc.integer({ min: 0, max: 40 });
const someFirst = fc.constantFrom(1, 2, 3, 5, 8, 1000);
/** Moves to anywhere: each between two pages, and some between none. */
const someMoves: fc.Arbitrary<(Moving | null)[]> = fc.array(
  fc.option(
    fc.record({
      item: fc.nat(),
      to: fc.double({ min: 0, max: 1, noNaN: true }),
      kind: fc.constantFrom('move', 'remove', 'insert'),
    }),
  ),
  { maxLength: 40 },
);

test('of 2,500 balances, one that falls across a seam costs no other: only what no page showed is missing', async () => {
  for (const by of ['key', 'position'] as const) {
    const list = new MovingList('descendingBy', 2500, { by, sizes: [1000] });
    // The last item of the first page falls by 501 places, behind the middle of the second page.
    list.movesAfterReads([{ kind: 'move', item: 999, to: (1500.5 + 1) / 2500 }]);
    const returned = (await walkAll(list, 5000)).flat();
    expect(returned).toEqual([...new Set(list.shown)]);
    // Offsets that count items pass over the one that moved up to the first page, which was read before.
    expect(returned).toHaveLength(by === 'key' ? 2500 : 2499);
  }
});

describe.each(ORDERS)('a list that is %s', (order) => {
  test('that stays as it is: walks by 1, by 3 and by the maximum return all items, once and in order', async () => {
    const paging = fc.record({ by: fc.constantFrom('key' as const, 'position' as const), sizes });
    await fc.assert(
      fc.asyncProperty(paging, someLength, async (scheme: Paging, length) => {
        for (const first of [1, 3, 1000]) {
          const list = new MovingList(order, length, scheme);
          expect((await walkAll(list, first)).flat()).toEqual(list.names);
        }
      }),
      { numRuns: runs(60) },
    );
  });

  test('one request returns whatever its pages show, each item once', async () => {
    const paging = fc.record({ by: fc.constantFrom('key' as const, 'position' as const), sizes });
    await fc.assert(
      fc.asyncProperty(paging, someLength, someMoves, async (scheme: Paging, length, moves) => {
        const list = new MovingList(order, length, scheme);
        list.movesAfterReads(moves);
        expect((await walkAll(list, 1000)).flat()).toEqual([...new Set(list.shown)]);
      }),
      { numRuns: runs(150) },
    );
  });

  test.each([
    ['whatever moves, comes and goes between any two pages', 'key', (move: Moving) => move],
    [
      'also where offsets count items, as long as others come or move up',
      'position',
      (move: Moving): Moving => ({ ...move, kind: move.kind === 'insert' ? 'insert' : 'rise' }),
    ],
  ] as const)('no item that stays is lost or doubled, %s', async (_what, by, toMove) => {
    let walks = 0;
    let expired = 0;
    await fc.assert(
      fc.asyncProperty(someSizes, someLength, someMoves, someFirst, async (sizes, length, moves, first) => {
        const list = new MovingList(order, length, { by, sizes });
        const { names } = list;
        list.movesAfterReads(moves.map((move) => move && toMove(move)));
        const requests: string[][] = [];
        const end = await walkAll(list, first, requests).catch(codeOf);
        const staying = names.filter((name) => !list.moved.has(name));
        const returned = requests.flat().filter((name) => staying.includes(name));
        // What can't be continued is said: up to there nothing is missing.
        expect(returned).toEqual(end === 'CURSOR_EXPIRED' ? staying.slice(0, returned.length) : staying);
        for (const request of requests) expect(new Set(request).size).toBe(request.length);
        walks += 1;
        if (end === 'CURSOR_EXPIRED') expired += 1;
      }),
      { numRuns: runs(300) },
    );
    // A page of one or two items has too few neighbours: the last pages are so short.
    expect(expired).toBeLessThan(walks / 20);
  });

  test('pages that overlap, and stay so: walks by 1, by 3 and by the maximum return the same', async () => {
    const overlapping = fc
      .array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.array(fc.nat({ max: 20 }), { maxLength: 3 })), {
        maxLength: 6,
      })
      .map((pages) => MovingList.overlapping(pages));
    await fc.assert(
      fc.asyncProperty(overlapping, async (pages) => {
        const list = new MovingList(order, 0, { by: 'key', sizes: [1] }).frozen(pages);
        for (const first of [1, 2, 3, 1000])
          expect((await walkAll(list, first)).flat()).toEqual([...new Set(pages.flat())]);
      }),
      { numRuns: runs(150) },
    );
  });
});
