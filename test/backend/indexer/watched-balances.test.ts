import { expect, test } from 'vitest';
import {
  type BalanceReader,
  createBalanceReader,
} from '../../../src/backend/indexer/follower/watched-balances.ts';
import { CONTROL } from '../../../src/backend/node/calls.ts';
import { RpcError } from '../../../src/backend/node/errors.ts';
import type { Hex, Transfer } from '../../../src/backend/types.ts';
import { address, logs } from './support/blocks.ts';
import { buildAll, CHAIN } from './support/histories.ts';

/** What is delivered of the balances of watched accounts when a node or a contract does not state them. */

const [ALICE, BOB, COIN, OTHER] = ['alice', 'bob', 'coin', 'other'].map(address) as [Hex, Hex, Hex, Hex];
const BLOCKS = buildAll(
  CHAIN.id,
  [1, 2, 3].map((time) => [
    time,
    [
      {
        from: BOB,
        to: ALICE,
        value: 5n,
        logs: [logs.coin(COIN, BOB, ALICE, 1n), logs.coin(OTHER, BOB, ALICE, 1n)],
      },
    ],
  ]),
);
const GONE = new RpcError(-32_000, 'missing trie node 0x12');
const PASSING = new RpcError(-32_603, 'Internal error');
const BEHIND = new RpcError(-32_000, 'header not found');
const COSTLY = new RpcError(-32_000, 'out of gas');

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** A node that says 7 of every balance, unless it fails, and the lines that a reader of it writes. */
const open = (patienceMs: number) => {
  const lines: string[] = [];
  /** What is noted of tokens. */
  const differences: string[] = [];
  const node = {
    native: null as Error | null,
    /** What it says of native balances at first, one answer after another. */
    first: [] as bigint[],
    /** What contracts say of the block before the first one. */
    before: 7n,
    /** What contracts say, by their addresses. */
    said: new Map<Hex, Hex | Error | null>(),
  };
  const read = createBalanceReader({
    node: {
      chainId: CHAIN.id,
      async balances(accounts, block) {
        if (node.native) throw node.native;
        const amount = block === BLOCKS[0]?.number ? node.first.shift() : undefined;
        return accounts.map(() => amount ?? 7n);
      },
      calls: (list, block) =>
        list.map(async ({ to }) => {
          const answer = node.said.get(to);
          if (answer instanceof Error) throw answer;
          const amount = block === (BLOCKS[0]?.number ?? 0) - 1 ? node.before : 7n;
          return answer === undefined ? word(amount) : answer;
        }),
    },
    watches: (account) => account === ALICE,
    differs: (token) => token === OTHER,
    onDifference: (token, _call, expected) => differences.push(`${token} ${expected}`),
    log: (message, { token, block }) => lines.push([message, token, block].filter(Boolean).join(' ')),
    patienceMs,
    doubtMs: 0,
  });
  return { node, read, lines, differences };
};

const readAt = async (read: BalanceReader, at: number, isComplete: boolean) => {
  const block = BLOCKS[at];
  if (block === undefined) throw new Error(`expected block ${at}`);
  return read(block, isComplete);
};

const amountsIn = async (read: BalanceReader, at: number, isComplete = false) => {
  const { watches, after } = await readAt(read, at, isComplete);
  expect([watches(ALICE), watches(BOB)]).toEqual([true, false]);
  return [null, COIN, OTHER].map((token) => after(ALICE, { token, tokenId: null } as Transfer));
};

test('a contract that says nothing has no balance, rather than 0', async () => {
  const { node, read, lines } = open(60_000);
  node.said.set(COIN, null);
  expect(await amountsIn(read, 0)).toEqual([7n, null, 7n]);
  node.said.set(COIN, '0x');
  expect(await amountsIn(read, 0)).toEqual([7n, null, 7n]);
  expect(lines).toEqual([]);
});

test('a node that answers with the state after the next block, which it is adding, is asked again', async () => {
  const { node, read } = open(60_000);
  node.first = [9n];
  expect(await amountsIn(read, 0)).toEqual([7n, 7n, 7n]);
  node.first = [8n, 9n, 10n, 11n, 12n, 13n];
  await expect(amountsIn(read, 0)).rejects.toThrow('expected one answer for the balances of block');
  // What the block is known to have changed is not in doubt.
  node.first = [12n, 13n];
  node.before = 6n;
  expect(await amountsIn(read, 0, true)).toEqual([12n, 7n, 7n]);
});

test.each([PASSING, BEHIND, COSTLY, GONE])(
  'a block is not added while its balances fail: $message',
  async (problem) => {
    const { node, read, lines } = open(60_000);
    node.native = problem;
    await expect(amountsIn(read, 0)).rejects.toBe(problem);
    node.native = null;
    node.said.set(COIN, problem);
    await expect(amountsIn(read, 0)).rejects.toBe(problem);
    node.said.clear();
    expect(await amountsIn(read, 0)).toEqual([7n, 7n, 7n]);
    expect(lines).toEqual([]);
  },
);

test('a state that the node has lost is given up after some time, with a line, and said again when it is there', async () => {
  const { node, read, lines } = open(0);
  node.native = GONE;
  for (const at of [0, 1]) expect(await amountsIn(read, at)).toEqual([null, null, null]);
  // Sums of all blocks stand in, except those of tokens that are known to differ from them.
  for (const isComplete of [false, true]) {
    const { mayBeSummed } = await readAt(read, 1, isComplete);
    expect([COIN, OTHER].map((token) => mayBeSummed?.(token))).toEqual([isComplete, false]);
  }
  node.native = null;
  expect(await amountsIn(read, 2)).toEqual([7n, 7n, 7n]);
  expect(lines).toEqual(['balances not delivered', 'balances delivered again 2']);
});

test('a lost state is given up although newer blocks are read meanwhile, as several are at a time', async () => {
  const { node, read, lines } = open(20);
  const readOld = async () => {
    node.native = GONE;
    try {
      return await amountsIn(read, 0);
    } finally {
      node.native = null;
    }
  };
  const readNew = () => amountsIn(read, 1);
  await expect(readOld()).rejects.toBe(GONE);
  expect(await readNew()).toEqual([7n, 7n, 7n]);
  await expect
    .poll(() => readOld().catch(() => readNew().then(() => 'asked again')))
    .toEqual([null, null, null]);
  expect(lines).toEqual(['balances not delivered']);
  expect(await readNew()).toEqual([7n, 7n, 7n]);
  expect(lines).toEqual(['balances not delivered', 'balances delivered again 1']);
});

test.each([PASSING, BEHIND])('no other failure of the node is ever given up: $message', async (problem) => {
  const { node, read, lines } = open(0);
  node.native = problem;
  await expect(amountsIn(read, 0)).rejects.toBe(problem);
  node.native = null;
  for (const to of [COIN, CONTROL.to]) node.said.set(to, problem);
  await expect(amountsIn(read, 0)).rejects.toBe(problem);
  expect(lines).toEqual([]);
});

test('a contract that can not be asked while others can is given up after some time, with a line', async () => {
  const { node, read, lines } = open(0);
  node.said.set(COIN, COSTLY);
  expect(await amountsIn(read, 1)).toEqual([7n, null, 7n]);
  expect(await amountsIn(read, 2)).toEqual([7n, null, 7n]);
  expect(lines).toEqual([`balances of a token not delivered ${COIN} 1`]);
  node.said.clear();
  expect(await amountsIn(read, 2)).toEqual([7n, 7n, 7n]);
});

test('a change that events do not explain is what the token says, if one of them made it, and noted', async () => {
  const { read, differences } = open(60_000);
  const moved = (token: Hex): Transfer => ({
    ...{ kind: 'transfer', asset: 'erc20', token, tokenId: null, balances: null },
    ...{ from: BOB, to: ALICE, value: 1n },
  });
  // It says 7 before and after, though an event gave 1.
  const { unexplained, mayBeSummed } = await readAt(read, 0, true);
  expect(unexplained?.(ALICE, moved(COIN))).toEqual({ before: 7n, after: 7n });
  expect(mayBeSummed?.(COIN)).toBe(false);
  expect(differences).toEqual([`${COIN} 8`, `${OTHER} 8`]);
});
