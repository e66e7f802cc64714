import { getSelector } from 'ox/AbiFunction';
import { expect, test } from 'vitest';
import type { ParsedBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import { FORMS } from '../../../../src/backend/indexer/blocks/readings.ts';
import { KnownContracts } from '../../../../src/backend/indexer/contracts/known-contracts.ts';
import { Metadata } from '../../../../src/backend/indexer/contracts/metadata.ts';
import type { Sample } from '../../../../src/backend/indexer/contracts/seen.ts';
import { openDatabase } from '../../../../src/backend/indexer/database/database.ts';
import type { Call } from '../../../../src/backend/node/calls.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { address, logs, ZERO } from '../support/blocks.ts';
import { build, CHAIN } from '../support/histories.ts';

/** Contracts whose logs can be read in several ways, and whose answers do not decide how. */

const BOB = address('bob');
const NFTS = address('nfts');
const OWNER_OF = getSelector('function ownerOf(uint256)');
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** Contracts that say nothing but who owns some ids. */
const open = (sample?: (row: { readonly sample: Sample }) => Sample | null) => {
  const asked: bigint[] = [];
  /** The blocks that the node has. */
  const mined = new Map<number, ParsedBlock>();
  const owned = new Set<bigint>();
  const answerTo = ({ data }: Call): Hex | null => {
    if (!data.startsWith(OWNER_OF)) return null;
    const id = BigInt(`0x${data.slice(OWNER_OF.length)}`);
    asked.push(id);
    return owned.has(id) ? word(BigInt(BOB)) : null;
  };
  const node = {
    calls: (list: readonly Call[]) => list.map(async (call) => answerTo(call)),
    balances: async () => [],
    find: async (number: number | Hex) => mined.get(Number(number)) ?? null,
  };
  const clock = { time: 1_000_000 };
  const contracts = new KnownContracts(openDatabase(':memory:'), [CHAIN]);
  const metadata = new Metadata({
    ...{ contracts, nodes: new Map([[CHAIN.id, node]]), now: () => clock.time },
    ...(sample && { sample: (_chainId, _contract, row) => sample(row) }),
  });
  metadata.start();
  let newest: ParsedBlock | null = null;
  const log = (contract: Hex, id: bigint): Promise<void> => {
    newest = build(CHAIN.id, newest, [1, [{ from: BOB, logs: [logs.plain(contract, ZERO, BOB, id)] }]]);
    mined.set(newest.number, newest);
    return metadata.learn(newest, true);
  };
  return { asked, mined, owned, clock, contracts, log, [Symbol.asyncDispose]: () => metadata.stop() };
};

test('a contract that was asked in vain is asked again a minute after it has logged more', async () => {
  await using known = open();
  for (let id = 1n; id <= 5n; id += 1n) {
    await known.log(NFTS, id);
    expect(known.asked).toHaveLength(Number(id));
  }
  expect(known.contracts.mayHaveOtherNfts(CHAIN.id)).toBe(false);
  known.owned.add(6n);
  await known.log(NFTS, 6n);
  known.clock.time += 59_999;
  await known.log(address('another'), 1n);
  expect(known.contracts.readings(CHAIN.id, NFTS).nft).toBe(0);
  known.clock.time += 1;
  await known.log(address('one more'), 1n);
  await expect.poll(() => known.contracts.readings(CHAIN.id, NFTS)).toMatchObject({ nft: FORMS.plain });
});

test('a contract none of whose open logs is left is not asked of them, and begins anew with later ones', async () => {
  let isLeft = true;
  await using known = open(({ sample }) => (isLeft ? sample : null));
  await known.log(NFTS, 1n);
  expect(known.asked).toEqual([1n]);
  expect(known.contracts.mayHaveOtherNfts(CHAIN.id)).toBe(true);
  isLeft = false;
  known.clock.time += 1_000;
  await known.log(address('another'), 1n);
  await expect.poll(() => known.contracts.row(CHAIN.id, NFTS)).toBeNull();
  expect(known.asked).toEqual([1n]);
  isLeft = true;
  known.owned.add(2n);
  await known.log(NFTS, 2n);
  expect(known.contracts.readings(CHAIN.id, NFTS)).toMatchObject({ nft: FORMS.plain });
});

test('answers of a node that follows another branch decide nothing, however often it is asked', async () => {
  await using known = open();
  await known.log(NFTS, 1n);
  for (let seconds = 1; seconds <= 64; seconds *= 4) {
    known.mined.clear();
    known.clock.time += seconds * 1_000;
    const before = known.asked.length;
    await known.log(address(`another ${seconds}`), 1n);
    await expect.poll(() => known.asked.length).toBeGreaterThan(before);
    known.mined.clear();
  }
  expect(known.contracts.mayHaveOtherNfts(CHAIN.id)).toBe(true);
  expect(known.contracts.row(CHAIN.id, NFTS)).toMatchObject({ settled: 0, failures: 1 });
});
