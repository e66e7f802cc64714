import { expect, test } from 'vitest';
import { FORMS, type Readings, UNASKED } from '../../../../src/backend/indexer/blocks/readings.ts';
import { IndexedData } from '../../../../src/backend/indexer/queries/data.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { address, logs, ZERO } from '../support/blocks.ts';
import { buildAll, CHAIN, type Content, NOBODY, openIndex } from '../support/histories.ts';

const ignore = () => {};
const BOB = address('bob');
const COIN = address('coin');
const HAS = 9n;
const AS_COIN: Readings = { coin: FORMS.id, nft: 0, settled: FORMS.id, isMulti: false };

test('while the logs of a contract are read again, it is asked for its balances, and lists of NFTs say what is open', async () => {
  let current = UNASKED;
  const { database, index } = openIndex(() => current, 1);
  const mints = [1n, 2n, 3n].map((value): Content => {
    const logged = [logs.unique(COIN, ZERO, BOB, value)];
    return [1, [{ from: BOB, to: COIN, created: COIN, value: 0n, success: true, logs: logged }]];
  });
  for (const block of buildAll(CHAIN.id, mints)) index.append(block, ignore, NOBODY);
  const answer: Hex = `0x${HAS.toString(16).padStart(64, '0')}`;
  const node = {
    balances: async () => [0n],
    calls: (list: readonly unknown[]) => list.map(async () => answer),
  };
  const data = new IndexedData({
    ...{ database, index, chains: [CHAIN], nodes: new Map([[CHAIN.id, node]]) },
    contracts: {
      contract: () => ({ standard: 'erc20', name: 'Coin', symbol: 'COIN', decimals: 18, isPending: false }),
      token: () => null,
      tokens: () => [],
      readings: () => current,
      isOpen: () => false,
      mayHaveOtherNfts: () => false,
    },
    metadata: { async meet() {} },
    differing: {
      ...{ has: () => false, behind: () => [], new: () => [] },
      ...{ agrees() {}, note() {}, async settled() {} },
    },
  });
  index.transaction(() => {
    const revision = { before: current, after: AS_COIN, isSettled: true };
    current = AS_COIN;
    index.rereading.revise(CHAIN.id, COIN, revision, ignore);
  });
  let turns = 0;
  for (; index.rereading.underway(CHAIN.id).length > 0; turns += 1) {
    const { items } = await data.balances(BOB, new Set([CHAIN.id]), { after: null, limit: 10 });
    expect(items).toMatchObject([{ token: COIN, amount: HAS }]);
    const { failed } = await data.holdings(BOB, new Set([CHAIN.id]), { after: null, limit: 10 });
    expect(failed).toMatchObject([{ chainId: CHAIN.id, isPart: true }]);
    index.rereading.goOn(CHAIN.id, COIN, ignore);
  }
  expect(turns).toBeGreaterThan(2);
  expect(await data.holdings(BOB, new Set([CHAIN.id]), { after: null, limit: 10 })).toEqual({
    ...{ items: [], next: null, failed: [] },
  });
});
