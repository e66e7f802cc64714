import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ParsedBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import { FORMS, type Readings, UNASKED } from '../../../../src/backend/indexer/blocks/readings.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { runs } from '../../../support/runs.ts';
import { logs, ZERO } from '../support/blocks.ts';
import {
  ACCOUNTS,
  build,
  buildAll,
  CHAIN,
  type Content,
  content,
  contents,
  listAll,
  NOBODY,
  openIndex,
  TOKENS,
} from '../support/histories.ts';

const ALL = Object.values(FORMS).reduce((all, form) => all | form, 0);
const ignore = () => {};

/** Any form may be read as a coin's, as an NFT's or not at all. */
const readings: fc.Arbitrary<Readings> = fc
  .record({ coin: fc.nat(ALL), nft: fc.nat(ALL), isMulti: fc.boolean() })
  .map(({ coin, nft, isMulti }) => ({ coin, nft: nft & ~coin, settled: ALL, isMulti }));

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('add' as const), below: fc.boolean() }) },
  fc.record({ do: fc.constant('reorg' as const), others: fc.array(content, { maxLength: 2 }) }),
  fc.record({ do: fc.constant('go on' as const) }),
  fc.record({ do: fc.constant('decide' as const), token: fc.nat(TOKENS.length - 1), isFinal: fc.boolean() }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * An index that learns how the logs of contracts are read while it takes the steps, and at last whatever it lacks. It reads about
 * so many effects again in one turn.
 */
const detoured = (
  blocks: readonly ParsedBlock[],
  last: readonly Readings[],
  steps: readonly Step[],
  rereads: number,
) => {
  const known = new Map<Hex, Readings>();
  const { database, index } = openIndex((_, contract) => known.get(contract) ?? UNASKED, rereads);
  const goOn = () => {
    const underway = index.rereading.underway(CHAIN.id);
    for (const contract of underway) index.rereading.goOn(CHAIN.id, contract, ignore);
    return underway.length > 0;
  };
  const first = Math.floor(blocks.length / 2);
  const head = () => index.range(CHAIN.id)?.head.number ?? first - 1;
  const append = () => {
    const block = blocks[head() + 1];
    if (block !== undefined) index.append(block, null, NOBODY, 0);
  };
  const prepend = () =>
    index.prepend(blocks.slice(0, index.range(CHAIN.id)?.lowest.number ?? 0).toReversed());
  const decide = (at: number, isFinal: boolean) => {
    const token = TOKENS[at] ?? '0x';
    const before = known.get(token) ?? UNASKED;
    if (before.settled === ALL || index.rereading.underway(CHAIN.id).includes(token)) return;
    const { coin, nft, ...rest } = last[at] ?? UNASKED;
    // What is not final may be read in yet another way.
    const after = isFinal ? { coin, nft, ...rest } : { ...rest, coin: nft, nft: coin, settled: 0 };
    index.transaction(() => {
      known.set(token, after);
      index.rereading.revise(CHAIN.id, token, { before, after, isSettled: isFinal }, ignore);
    });
  };
  const reorg = (others: readonly Content[]) => {
    const to = head() - 1;
    if (to < first) return;
    index.unwind(CHAIN.id, to, ignore);
    let parent = blocks[to] ?? null;
    for (const other of others) {
      parent = build(CHAIN.id, parent, other);
      index.append(parent, ignore, NOBODY);
    }
    index.unwind(CHAIN.id, to, ignore);
  };
  for (const each of steps)
    if (each.do === 'decide') decide(each.token, each.isFinal);
    else if (each.do === 'reorg') reorg(each.others);
    else if (each.do === 'go on') index.list(CHAIN.id, goOn() ? 0 : 1);
    else if (each.below && head() >= first) prepend();
    else append();
  while (head() + 1 < blocks.length) append();
  prepend();
  while (goOn());
  for (const at of TOKENS.keys()) decide(at, true);
  while (goOn());
  listAll(index, CHAIN.id);
  index.writes.keep();
  return database;
};

test('the tables are as if all that contracts answer had been known from the first block on, whenever that becomes known', () => {
  fc.assert(
    fc.property(
      fc.array(content, { minLength: 2, maxLength: 7 }),
      fc.tuple(readings, readings),
      fc.array(step, { maxLength: 16 }),
      fc.constantFrom(1, 5, 2_000),
      (blockContents, last, steps, rereads) => {
        const blocks = buildAll(CHAIN.id, blockContents);
        const straight = openIndex((_, contract) => last[TOKENS.indexOf(contract)] ?? UNASKED);
        for (const block of blocks) straight.index.append(block, null, NOBODY, 0);
        expect(contents(detoured(blocks, last, steps, rereads))).toEqual(contents(straight.database));
      },
    ),
    { numRuns: runs(1_000) },
  );
});

test('a contract with many logs is read again in turns, and what was indexed meanwhile counts', () => {
  const [token = '0x'] = TOKENS;
  const [account = '0x'] = ACCOUNTS;
  const known = new Map<Hex, Readings>();
  const { index } = openIndex((_, contract) => known.get(contract) ?? UNASKED, 100);
  const transactions = [{ from: account, logs: [logs.plain(token, ZERO, account, 2n)] }];
  const blocks = buildAll(
    CHAIN.id,
    Array.from({ length: 1_000 }, () => [1, transactions]),
  );
  for (const block of blocks.slice(0, -1)) index.append(block, null, NOBODY, 0);
  const after = { ...UNASKED, coin: FORMS.plain, settled: ALL };
  index.transaction(() => {
    known.set(token, after);
    index.rereading.revise(CHAIN.id, token, { before: UNASKED, after, isSettled: true }, ignore);
  });
  for (const block of blocks.slice(-1)) index.append(block, null, NOBODY);
  const sum = () => index.sum(CHAIN.id, { account, standard: 0, token, tokenId: 0n });
  let turns = 1;
  for (; index.rereading.underway(CHAIN.id).length > 0; turns += 1) {
    expect(sum()).toBeLessThan(2_000n);
    index.rereading.goOn(CHAIN.id, token, ignore);
  }
  expect(turns).toBeGreaterThan(10);
  expect(sum()).toBe(2_000n);
});
