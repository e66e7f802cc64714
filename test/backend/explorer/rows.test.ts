import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../../../src/backend/explorer/client/operations.ts';
import type { ExplorerTransaction } from '../../../src/backend/explorer/client/rows.ts';
import { madeUp, WALLET } from '../../support/blockscout/made-up.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { runs } from '../../support/runs.ts';
import { askTransactions, faultOf, LISTS, startAsking } from './support/asking.ts';

const pageIn = (body: unknown) =>
  z.looseObject({ items: z.array(z.looseObject({})), next_page_params: z.unknown() }).parse(body);

describe('Rows', () => {
  test('that are in no block yet are left out, and make no page the last', async () => {
    const contents = madeUp({ transactions: 4, pending: 120 });
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents }] });
    await using asking = startAsking();
    const page = await asking.until(LISTS[0].page(asking.client, explorer.chain()));
    expect(page.items).toEqual([]);
    expect(page.next).not.toBeNull();
  });

  test('that a page repeats come once', async () => {
    const contents = madeUp({ transactions: 4, pending: 0 });
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents }] });
    await using asking = startAsking();
    explorer.plant(
      { change: (body) => ({ ...pageIn(body), items: [...pageIn(body).items, ...pageIn(body).items] }) },
      ({ path }) => path.endsWith('/transactions'),
    );
    const page = await asking.until(LISTS[0].page(asking.client, explorer.chain()));
    expect(page.items).toHaveLength(4);
  });

  test('that the explorer has not processed yet make the list incomplete', async () => {
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents: madeUp() }] });
    await using asking = startAsking();
    const [, , internals] = LISTS;
    const page = () => asking.until(internals.page(asking.client, explorer.chain()));
    expect(await page()).toMatchObject({ isIncomplete: false });
    explorer.plant({ change: (body) => ({ ...pageIn(body), meta: { status: 2, message: 'not yet' } }) });
    expect(await page()).toMatchObject({ isIncomplete: true });
  });

  test('beyond those that numbered pages reach are said to be missing', async () => {
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents: madeUp() }] });
    await using asking = startAsking();
    const { client } = asking;
    const page = (pageSize: number) => {
      const wanted = { address: WALLET, pageSize };
      return client.list(explorer.chain(), OPERATIONS.txlist, wanted, null, client.lookup('one'));
    };
    expect(await asking.until(page(5_000))).toMatchObject({ next: { page: 2 }, isIncomplete: false });
    expect(await asking.until(page(10_000))).toMatchObject({ next: null, isIncomplete: true });
  });
});

describe('A row', () => {
  /** Members without which a row would say something else, and by which it is one. */
  const STRICT = [
    ['addressTransactions', ['hash', 'timestamp', 'position', 'from', 'value', 'nonce', 'raw_input']],
    ['addressTokenTransfers', ['block_number', 'log_index', 'from', 'to', 'token', 'total']],
    ['addressInternalTransactions', ['transaction_hash', 'index', 'from', 'value', 'success', 'timestamp']],
    ['addressTokens', ['token', 'value']],
    ['addressNft', ['id', 'token']],
    ['transactionLogs', ['address', 'topics', 'data', 'index', 'transaction_hash']],
    ['tokenHolders', ['address', 'value']],
    ['blocks', ['hash', 'height', 'timestamp']],
  ] as const;
  const odd = fc.constantFrom(undefined, -1, 1.5, '', 'abc', '0x', '-5', '1e3', 'ok', {}, [[]], { value: 5 });

  test.each(STRICT)('of %s without what it must say is an error', async (name, strict) => {
    const list = LISTS.find((each) => each.name === name) ?? LISTS[0];
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents: madeUp({ pending: 0 }) }] });
    await using asking = startAsking();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...strict), fc.nat(1), odd, async (member, at, value) => {
        // Each is of its type for one of the members.
        fc.pre(!(member === 'raw_input' || member === 'data') || value !== '0x');
        explorer.mend();
        explorer.plant(
          {
            change: (body) => {
              const { items, ...rest } = pageIn(body);
              return {
                ...rest,
                items: items.map((item, place) => (place === at ? { ...item, [member]: value } : item)),
              };
            },
          },
          ({ path }) => !path.endsWith('version'),
        );
        const fault = await faultOf(asking.until(list.ask(asking.client, explorer.chain())));
        expect(fault).toMatchObject({
          kind: 'malformed',
          where: expect.stringContaining(`items.${at}.${member}`),
        });
      }),
      { numRuns: runs(100, 12) },
    );
  });

  test('without what lookups can do without is a row', async () => {
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents: madeUp() }] });
    await using asking = startAsking();
    explorer.plant(
      {
        change: (body) => {
          const { items, ...rest } = pageIn(body);
          const odd = {
            type: 'new',
            gas_price: 7,
            exchange_rate: {},
            fee: null,
            method: [],
            unknown: 1,
            status: 'new',
          };
          return { ...rest, items: items.map((item) => ({ ...item, ...odd })) };
        },
      },
      ({ path }) => path.endsWith('/transactions'),
    );
    const { items } = await asking.until(askTransactions(asking.client, explorer.chain()));
    expect(items).toHaveLength(3);
    const unknown: Partial<ExplorerTransaction> = {
      ...{ type: null, gas_price: null, exchange_rate: null, method: null, status: null },
    };
    for (const item of items) expect(item).toMatchObject(unknown);
  });
});
