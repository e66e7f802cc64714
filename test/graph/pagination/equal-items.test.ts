import fc from 'fast-check';
import { expect, test } from 'vitest';
import { activity } from '../../../src/lookups/activity.ts';
import type { Gateway } from '../../support/gateway/start.ts';
import { runs } from '../../support/runs.ts';
import { type Fields, freshAddress, hashOf, timeAt } from '../../support/upstream/builders.ts';
import { caches, startOver, withoutCache } from '../../support/upstream/cache-configs.ts';
import type { Answer } from '../../support/upstream/fake-service.ts';

/*
 * A transaction has several activities, equal ones too, and pages end anywhere in it. Offsets are places in the list: what
 * arrives at the head does not shift the pages behind it.
 */

/** The activities of a transaction: equal numbers are equal activities. */
const anyTransaction = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 9 });
const anyList = fc.array(anyTransaction, { maxLength: 8 });
const anySizes = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 3 }).map((sizes) => [...sizes, 4]);
/** The numbers of new transactions at the head, after each page. */
const anyGrowth = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 5 });

const itemsOf = (number: number, amounts: readonly number[]): Fields[] =>
  amounts.map((amount) => ({
    chain_id: 1,
    block_number: number,
    // Two transactions have the same time.
    block_time: timeAt(Math.floor(number / 2)),
    tx_hash: hashOf(number),
    type: 'receive',
    value: String(amount),
    // The price of the request: it does not identify an item.
    value_usd: Math.random(),
  }));

/** Serves a list newest first. An offset is the number of items behind it, and of the page. */
const servingPlaces =
  (items: readonly Fields[], sizes: readonly number[], onPage: () => void): Answer =>
  ({ query }) => {
    const [left = items.length, page = 0] = query.get('offset')?.split(' ').map(Number) ?? [];
    const start = items.length - left;
    const end = Math.min(items.length, start + (sizes[page % sizes.length] ?? 1));
    const next = end < items.length ? `${items.length - end} ${page + 1}` : undefined;
    const json = { activity: items.slice(start, end), next_offset: next };
    onPage();
    return { json };
  };

type Connection = {
  nodes: ({ id: string; transactionHash: string; value: string } | null)[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
};

const read = async (gateway: Gateway, address: string, first: number): Promise<Connection['nodes']> => {
  const nodes: Connection['nodes'] = [];
  for (let after: string | null = null, pages = 0; pages < 500; pages += 1) {
    const { wallet }: { wallet: { activity: Connection } } = await gateway.data<{
      wallet: { activity: Connection };
    }>(
      `query ($address: Address!, $first: Int, $after: String) {
        wallet(address: $address) { activity(first: $first, after: $after) {
          nodes { id transactionHash value } pageInfo { endCursor hasNextPage }
        } }
      }`,
      { address, first, after },
    );
    nodes.push(...wallet.activity.nodes);
    if (!wallet.activity.pageInfo.hasNextPage) return nodes;
    after = wallet.activity.pageInfo.endCursor ?? after;
  }
  throw new Error('the walk did not end');
};

test.each([
  ...caches.map((cache) => ({ ...cache, readPath: 'fast' as const })),
  { ...withoutCache, readPath: 'plain' as const },
])(
  'a page that ends in a transaction neither doubles nor loses one of its equal activities, and each has one id, $name, $readPath',
  async ({ readPath, ...held }) => {
    await using over = await startOver(held, { readPath });
    const { fake, gateway } = over;
    await fc.assert(
      fc.asyncProperty(anyList, anySizes, anyGrowth, async (transactions, sizes, growth) => {
        const address = freshAddress();
        const items = transactions.flatMap((amounts, index) => itemsOf(100 - index, amounts));
        const grown = [...growth];
        let newest = 100;
        const grow = () => {
          for (let count = grown.shift() ?? 0; count > 0; count -= 1) {
            newest += 1;
            items.unshift(...itemsOf(newest, [1, 1]));
          }
        };
        const expected = items.map(({ tx_hash, value }) => [tx_hash, value]);
        const hashes = new Set(items.map(({ tx_hash }) => tx_hash));
        fake.scriptsOf(activity).set(address, servingPlaces(items, sizes, grow));
        const ids = new Map<number, unknown[]>();
        for (const first of [1, 2, 5, 1000]) {
          const nodes = await read(gateway, address, first);
          const all = nodes.map((node) => node?.id);
          expect(new Set(all).size).toBe(all.length);
          // Walks may also return what has arrived.
          const staying = nodes.filter((node) => hashes.has(node?.transactionHash));
          expect(staying.map((node) => [node?.transactionHash, node?.value])).toEqual(expected);
          ids.set(
            first,
            staying.map((node) => node?.id),
          );
        }
        expect(new Set([...ids.values()].map((each) => each.join())).size).toBe(1);
      }),
      { numRuns: runs(40) },
    );
  },
);
