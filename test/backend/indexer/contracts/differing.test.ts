import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { bytesOf } from '../../../../src/backend/indexer/blocks/encoding.ts';
import { FORMS } from '../../../../src/backend/indexer/blocks/readings.ts';
import { supplyCall } from '../../../../src/backend/indexer/contracts/amounts.ts';
import { createContracts } from '../../../../src/backend/indexer/contracts/contract-table.ts';
import { Differing } from '../../../../src/backend/indexer/contracts/differing.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { address } from '../support/blocks.ts';

/** When a token counts as one whose events don't say what accounts have. */

const CHAIN = 1;
const TOKEN = address('token');
const BLOCK = { number: 7, hash: '0x07', parentHash: '0x06', time: 0 } as const;
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** A token whose contract gives these answers, one after another, and then the last one again. */
const open = (
  answers: readonly (bigint | Error | null)[],
  {
    hash = BLOCK.hash,
    isOpen = () => false,
    onCall = () => {},
  }: { hash?: Hex; isOpen?: () => boolean; onCall?: (token: Hex | undefined) => void } = {},
) => {
  const database = new DatabaseSync(':memory:', { readBigInts: true });
  createContracts(database);
  database
    .prepare(
      `INSERT INTO contracts (chain, address, name, symbol, decimals, block, failures, forms, coin, settled)
       VALUES (?1, ?2, 'Token', 'TKN', 18, 0, 0, ?3, ?3, ?3)`,
    )
    .run(CHAIN, bytesOf(TOKEN), FORMS.amount);
  const left = [...answers];
  const calls = ([asked]: readonly { readonly to: Hex }[]) => {
    onCall(asked?.to);
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer instanceof Error) return [Promise.reject(answer)];
    return [Promise.resolve(answer == null ? null : word(answer))];
  };
  const differing = new Differing({
    ...{ database, index: { hashAt: () => hash }, nodes: new Map([[CHAIN, { calls }]]) },
    isOpen,
    pausesMs: [0, 0, 0],
  });
  const note = async (sum: bigint, isOverstated = false) => {
    differing.note({
      chainId: CHAIN,
      token: TOKEN,
      call: supplyCall(TOKEN),
      sum,
      block: BLOCK,
      isOverstated,
    });
    await differing.settled();
  };
  return { database, differing, note };
};

test('what differs each time that it is asked of one block counts, and is kept', async () => {
  const { differing, note } = open([5n]);
  expect([differing.new(CHAIN), differing.has(CHAIN, TOKEN)]).toEqual([[TOKEN], false]);
  await note(6n);
  expect([differing.new(CHAIN), differing.has(CHAIN, TOKEN)]).toEqual([[], true]);
  expect([differing.behind(CHAIN, ''), differing.behind(CHAIN, TOKEN)]).toEqual([[TOKEN], []]);
  differing.agrees(CHAIN, TOKEN);
  expect(differing.has(CHAIN, TOKEN)).toBe(true);
  // Events that overstate a supply do not hide holders: no account is asked for such a token without an event.
  await note(6n, true);
  expect([differing.has(CHAIN, TOKEN), differing.behind(CHAIN, '')]).toEqual([true, []]);
});

test.each([
  ['it was the state of a later block at first', [5n, 6n], BLOCK.hash],
  ['the node changes its mind', [5n, 4n, 3n], BLOCK.hash],
  ['the node fails', [5n, new Error('gone')], BLOCK.hash],
  ['the contract says nothing', [null], BLOCK.hash],
  ['the block is gone', [5n], '0x08'],
] as const)('it does not count where %s', async (_, answers, hash) => {
  const { differing, note } = open(answers, { hash });
  await note(6n);
  expect([differing.new(CHAIN), differing.has(CHAIN, TOKEN)]).toEqual([[TOKEN], false]);
});

test.each([[[true]], [[false, true]]])(
  'it does not count where events are not read yet, at first or since: %j',
  async (states) => {
    const { differing, note } = open([5n], { isOpen: () => states.shift() ?? false });
    await note(6n);
    expect(differing.has(CHAIN, TOKEN)).toBe(false);
    await note(6n);
    expect(differing.has(CHAIN, TOKEN)).toBe(true);
  },
);

test('what is noted later does not hold up whoever waits for what was noted before', async () => {
  const others = [address('one'), address('other')] as const;
  const noteOther = (token: Hex) =>
    differing.note({
      ...{ chainId: CHAIN, token, call: supplyCall(token), sum: 6n },
      block: BLOCK,
      isOverstated: false,
    });
  // While one of them is asked, the other one is noted.
  const { differing, note } = open([5n, 4n], {
    onCall: (asked) => noteOther(asked === others[0] ? others[1] : others[0]),
  });
  await note(6n);
  await differing.stop();
});
