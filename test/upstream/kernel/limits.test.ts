import { describe, expect, test } from 'vitest';
import { collectibles } from '../../../src/lookups/collectibles.ts';
import { lookups } from '../../../src/lookups/registry.ts';
import { transactions } from '../../../src/lookups/transactions.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { usualBody } from '../../support/kernel/bodies.ts';
import { kernel } from '../../support/kernel/differential.ts';
import { CHAINS, cursorAt, randomPlan } from '../../support/kernel/plans.ts';
import { createRandom } from '../../support/kernel/random.ts';
import { addressOf, collectible, collection, transaction } from '../../support/upstream/builders.ts';

const VALUES = { subject: addressOf(1), chains: CHAINS, cursorOf: cursorAt };

const index = (list: AnyLookup, body: string, maxItems = 2500) =>
  kernel.index([Buffer.from(body)], list, maxItems);

/** The page of one transaction, with `json` as a further member of it. */
const transactionWith = (json: string): string =>
  `{"transactions":[${JSON.stringify(transaction()).slice(0, -1)},"further":${json}}]}`;

/** The kernel goes on as before, whatever it refused. */
const isUnharmed = () => {
  const page = index(transactions, JSON.stringify({ transactions: [transaction()] }));
  expect(page?.length).toBe(1);
  expect(page?.isOdd(0)).toBe(false);
};

describe('bodies', () => {
  test('of up to 32 MB are indexed, and larger ones refused', () => {
    const bodyOf = (bytes: number) =>
      JSON.stringify({ entries: [collectible({ name: 'x'.repeat(bytes) }), collectible({ token_id: '2' })] });
    const page = index(collectibles, bodyOf(32 * 1024 * 1024 - 1000));
    expect(page?.length).toBe(2);
    expect(page?.identity(1)).toBe(`1:${addressOf(0xc011)}:2`);
    expect(page?.json(0)).toHaveLength(
      32 * 1024 * 1024 - 1000 + JSON.stringify(collectible({ name: '' })).length,
    );
    expect(index(collectibles, bodyOf(32 * 1024 * 1024))).toBe(null);
    isUnharmed();
  });

  test('of more items than requested are refused', () => {
    const body = JSON.stringify({ entries: collection(20) });
    expect(index(collectibles, body, 20)?.length).toBe(20);
    expect(index(collectibles, body, 19)).toBe(null);
    isUnharmed();
  });

  test.each([
    ['records of no fields', `[${Array(100_000).fill('{}').join()}]`, 'logs'],
    ['levels', `${'['.repeat(2000)}${']'.repeat(2000)}`, 'further'],
    ['levels that do not end', '{"a":'.repeat(100_000), 'further'],
    ['names', `{${Array.from({ length: 60_000 }, (_, name) => `"${name}":1`).join()}}`, 'further'],
    ['shapes', `[${Array.from({ length: 60_000 }, (_, name) => `{"a":1,"${name}":1}`).join()}]`, 'further'],
  ])('of very many %s are refused', (_what, json, name) => {
    expect(index(transactions, transactionWith(json).replace('"further"', `"${name}"`))).toBe(null);
    isUnharmed();
  });

  test.each([
    ['levels', `${'['.repeat(1000)}${']'.repeat(1000)}`],
    ['objects of the same names', `[${Array(30_000).fill('{"a":{"b":1},"c":2}').join()}]`],
    ['digits', '1'.repeat(1_000_000)],
    ['numbers that a float would change', `[${Array(100_000).fill('1e20').join()}]`],
  ])('of many %s are indexed', (_what, json) => {
    const page = index(transactions, transactionWith(json));
    expect(page?.isOdd(0)).toBe(false);
  });
});

describe('pages', () => {
  test('take the memory that they say', () => {
    const page = index(collectibles, usualBody(collectibles, 100));
    expect(page?.image.buffer.buffer.byteLength).toBe(page?.bytes);
    expect(page?.bytes).toBeLessThan(3 * usualBody(collectibles, 100).length);
  });

  test('with numbers that the host writes are odd beyond ten thousand of them', () => {
    const values = Array(6000).fill(14.285714285714286);
    const entries = [1, 2, 3].map((number) =>
      collectible({ token_id: String(number), explanations: [{ feature: 'a', value: values }] }),
    );
    const page = index(collectibles, JSON.stringify({ entries }));
    expect([0, 1, 2].map((item) => page?.isOdd(item))).toEqual([false, true, true]);
  });

  test('are written from any part, one after the other, small ones and one of more than 4 MB', () => {
    expect(usualBody(collectibles, 2500).length).toBeGreaterThan(4 * 1024 * 1024);
    const random = createRandom(5);
    const kept = lookups
      .filter(({ isWhole }) => !isWhole)
      .flatMap((list) =>
        [3, 30, 200, ...(list === collectibles ? [2500] : [])].map((count) => {
          const page = index(list, usualBody(list, count));
          const plan = randomPlan(list, random);
          const compiled = kernel.compile(plan, list);
          if (page === null || compiled === null) throw new Error('Expected a page and a plan.');
          const itemsOf = (from: number, to: number): string[] => {
            const texts: string[] = [];
            for (let item = from; item < to; ) {
              const { bytes, next, isOdd } = kernel.write(compiled, page, item, to, VALUES);
              expect(isOdd).toBe(false);
              texts.push(Buffer.from(bytes).toString());
              item = next;
            }
            return texts;
          };
          return { page, itemsOf, whole: JSON.parse(`[${itemsOf(0, count).join()}]`) };
        }),
      );
    for (let run = 0; run < 2000; run += 1) {
      const { page, itemsOf, whole } = random.pick(kept);
      const from = random.below(page.length);
      const to = from + random.below(Math.min(page.length - from, 20)) + 1;
      expect(JSON.parse(`[${itemsOf(from, to).join()}]`)).toEqual(whole.slice(from, to));
    }
  });

  test('leave an item to the object writer that no output has room for', () => {
    const names = ['a', 'x'.repeat(3 * 1024 * 1024), 'b'];
    const body = JSON.stringify({ entries: names.map((name) => collectible({ name })) });
    const page = index(collectibles, body);
    const fields = [{ kind: 'property', key: 'name', property: 'name', plan: null }] as const;
    const plan = kernel.compile({ kind: 'nodes', node: { typeName: 'Collectible', fields } }, collectibles);
    if (page === null || plan === null) throw new Error('Expected a page and a plan.');
    const write = (from: number) => {
      const { bytes, next, isOdd } = kernel.write(plan, page, from, 3, VALUES);
      return [Buffer.from(bytes).toString(), next, isOdd];
    };
    expect(write(0)).toEqual(['{"name":"a"}', 1, false]);
    expect(write(1)).toEqual(['', 1, true]);
    expect(write(2)).toEqual(['{"name":"b"}', 3, false]);
  });
});
