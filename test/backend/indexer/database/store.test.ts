import { statSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Balances } from '../../../../src/backend/indexer/blocks/balances.ts';
import type { ParsedBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import { openDatabase } from '../../../../src/backend/indexer/database/database.ts';
import { Index } from '../../../../src/backend/indexer/database/store.ts';
import { Lists } from '../../../../src/backend/indexer/queries/lists.ts';
import type { Block, Hex, Transfer } from '../../../../src/backend/types.ts';
import { folderOf } from '../../../support/folder.ts';
import { runs } from '../../../support/runs.ts';
import { address, logs, ZERO } from '../support/blocks.ts';
import {
  ACCOUNTS,
  build,
  buildAll,
  CHAIN,
  CHAINS,
  type Content,
  content,
  contents,
  listAll,
  NOBODY,
  OTHER_CHAIN,
  openIndex,
} from '../support/histories.ts';

const EVERYBODY: Balances = { watches: () => true, after: () => null };
const ignore = () => {};

type Opened = ReturnType<typeof openIndex>;

/** What becomes of blocks that were added below: they are kept, left for later, or lost as by a kill. */
const ENDS = {
  keep: ({ index }: Opened) => index.writes.keep(),
  'keep some': ({ index }: Opened) => index.writes.keepSome(),
  'keep soon': ({ index }: Opened) => index.writes.keepSome(true),
  wait: ignore,
  lose: ({ database }: Opened) => database.rollBack(),
};

/** One chain of blocks, and a way to index it with detours. */
const history = fc.record({
  contents: fc.array(content, { minLength: 1, maxLength: 8 }),
  /** Where the index begins, as a part of the height. */
  start: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  steps: fc.array(
    fc.oneof(
      /** Blocks that are added at both ends, in one transaction. */
      fc.record({ do: fc.constant('add' as const), above: fc.nat(3), below: fc.nat(3), more: fc.nat(1) }),
      /** Blocks that are unwound, and other ones on what is left, which are unwound again. */
      fc.record({
        do: fc.constant('reorg' as const),
        depth: fc.integer({ min: 1, max: 4 }),
        others: fc.array(content, { maxLength: 3 }),
      }),
      fc.record({
        do: fc.constant('prepend' as const),
        blocks: fc.nat(3),
        end: fc.constantFrom('keep', 'keep some', 'keep soon', 'wait', 'lose'),
      }),
      /** Someone asks for an account. */
      fc.record({ do: fc.constant('look' as const), account: fc.constantFrom(...ACCOUNTS) }),
      fc.record({ do: fc.constant('trace' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ do: fc.constant('list' as const), holdings: fc.nat(3) }),
      fc.constant({ do: 'reset' as const }),
    ),
    { maxLength: 14 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

const untraced = (block: ParsedBlock): ParsedBlock => ({
  ...block,
  transactions: block.transactions.map((transaction) => ({ ...transaction, internal: [] })),
});

/** Takes a chain's steps, one at a time, and at last whatever it lacks. */
function* detours(opened: Opened, chainId: number, { contents, start, steps }: History): Generator<void> {
  const { index } = opened;
  const blocks = buildAll(chainId, contents);
  const first = Math.floor(start * blocks.length);
  const append = (block: ParsedBlock | undefined) => {
    if (block !== undefined) index.append(untraced(block), null, NOBODY, 0);
  };
  const trace = (limit: number) => {
    for (const number of index.untraced.first(chainId, 'history', limit)) {
      const block = blocks[number];
      if (block !== undefined) index.traced.add(block, null, NOBODY);
    }
  };
  const next = () => (index.range(chainId)?.head.number ?? first - 1) + 1;
  const below = (count: number) => {
    const lowest = index.range(chainId)?.lowest.number ?? 0;
    return blocks
      .slice(Math.max(0, lowest - count), lowest)
      .toReversed()
      .map(untraced);
  };
  for (const step of steps) {
    const range = index.range(chainId);
    if (step.do === 'add')
      index.transaction(() => {
        for (let count = 0; count < step.above; count += 1) append(blocks[next()]);
        index.prepend(below(step.below));
        for (let count = 0; count < step.more; count += 1) append(blocks[next()]);
      });
    else if (step.do === 'look') index.writes.account(step.account);
    else if (step.do === 'prepend') {
      index.prepend(below(step.blocks));
      ENDS[step.end](opened);
    } else if (step.do === 'reset') index.unwind(chainId, -1, ignore);
    else if (step.do === 'trace') trace(step.blocks);
    else if (step.do === 'list') index.list(chainId, step.holdings);
    else if (range !== null) {
      const to = Math.max(range.lowest.number, range.head.number - step.depth);
      index.unwind(chainId, to, ignore);
      let parent = blocks[to] ?? null;
      for (const other of step.others) {
        parent = build(chainId, parent, other);
        index.append(parent, ignore, NOBODY);
      }
      yield;
      index.unwind(chainId, to, ignore);
    }
    yield;
  }
  while (next() < blocks.length) append(blocks[next()]);
  index.prepend(below(blocks.length));
  index.writes.keep();
  trace(blocks.length);
  listAll(index, chainId);
}

const traceAtOnce = (index: Index, block: ParsedBlock): void => {
  index.append(block, null, NOBODY);
  // Its body has all: nothing is left to be traced.
  index.traced.add(untraced(block), null, NOBODY);
};

describe('what waits of older blocks', () => {
  const COIN = address('one');
  /** Two blocks, each of which mints a coin for that many accounts. */
  const minted = (chainId: number, count: number) =>
    buildAll(
      chainId,
      [1, 2].map((time): Content => {
        const minting = Array.from({ length: count }, (_, at) =>
          logs.coin(COIN, ZERO, address(`holder ${time} ${at}`), 5n),
        );
        return [time, [{ from: address('alice'), to: COIN, value: 0n, logs: minting }]];
      }),
    );
  /** An index that lacks the first block of a chain, and gets it. */
  const openWaiting = (count: number, opened = openIndex()) => {
    const [first, second] = minted(CHAIN.id, count);
    if (first === undefined || second === undefined) throw new Error('expected two blocks');
    opened.index.append(second, null, NOBODY, 0);
    opened.index.prepend([first]);
    const rows = opened.database.prepare('SELECT count(*) AS count FROM holdings WHERE slot = ?');
    return { ...opened, written: () => Number(rows.get(opened.index.slot(CHAIN.id))?.count) };
  };

  test('is not written for the holders of another chain', () => {
    const opened = openIndex();
    const [other] = minted(OTHER_CHAIN.id, 3);
    if (other !== undefined) opened.index.append(other, null, NOBODY);
    const { index, database, written } = openWaiting(10, opened);
    const before = written();
    const holders = new Lists(database, index).holders(OTHER_CHAIN, COIN, { after: null, limit: 10 });
    expect(holders).toHaveLength(3);
    expect(written()).toBe(before);
    index.writes.keep();
    expect(written() - before).toBe(10);
  });

  test('is written in several turns before new blocks are', () => {
    const { index, database, written } = openWaiting(1_500);
    const before = written();
    expect(index.writes.keepSome(true)).toBe(false);
    expect(written() - before).toBeGreaterThan(0);
    expect(written() - before).toBeLessThan(1_500);
    expect(index.writes.keepSome(true)).toBe(true);
    expect([written() - before, database.isTransaction]).toEqual([1_500, false]);
    expect(index.writes.keepSome(true)).toBe(true);
  });
});

describe('the tables of the index', () => {
  test('are those of an index that was built from scratch forwards, whatever was indexed in which order and unwound', () => {
    fc.assert(
      fc.property(fc.tuple(history, history), (histories) => {
        const [detoured, straight] = [openIndex(), openIndex()];
        let walks = histories.map((each, at) => detours(detoured, CHAINS[at]?.id ?? 0, each));
        while (walks.length > 0) walks = walks.filter((walk) => walk.next().done !== true);
        for (const [at, each] of histories.entries())
          for (const block of buildAll(CHAINS[at]?.id ?? 0, each.contents))
            traceAtOnce(straight.index, block);
        expect(contents(detoured.database)).toEqual(contents(straight.database));
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('hold nothing of a chain that was reset', () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 6 }), (contentsOfBlocks) => {
        const { database, index } = openIndex();
        const [kept, dropped] = CHAINS.map((chain) => buildAll(chain.id, contentsOfBlocks));
        for (const block of kept ?? []) index.append(block, ignore, NOBODY);
        const before = contents(database);
        for (const block of dropped ?? []) index.append(block, ignore, NOBODY);
        const told: unknown[] = [];
        index.unwind(OTHER_CHAIN.id, -1, (...removed) => told.push(removed));
        expect(contents(database)).toEqual(before);
        expect(told).toEqual([[OTHER_CHAIN.id, 0]]);
        expect(index.range(OTHER_CHAIN.id)).toBeNull();
      }),
      { numRuns: runs(100) },
    );
  });
});

test('an empty block writes a few pages of the file', async () => {
  await using folder = await folderOf({});
  using database = openDatabase(folder.path('index.sqlite'));
  const index = new Index({ database, chains: CHAINS });
  const busy: Content = [1, Array.from({ length: 50 }, (_, at) => ({ from: address(`account ${at}`) }))];
  const empty: Content = [1, []];
  const [first, ...others] = buildAll(CHAIN.id, [busy, ...Array.from({ length: 10 }, () => empty)]);
  if (first !== undefined) index.append(first, ignore, NOBODY);
  const pages = () => Math.floor(statSync(folder.path('index.sqlite-wal')).size / 4096);
  const before = pages();
  for (const block of others) index.append(block, ignore, NOBODY);
  expect(pages() - before).toBeLessThanOrEqual(3 * others.length);
});

/** Walks transfers forwards, with what everyone has. */
class Walk {
  readonly #balances = new Map<string, bigint>();

  change(owner: Hex, asset: string, change: bigint) {
    if (owner === ZERO) return null;
    const before = this.#balances.get(`${owner} ${asset}`) ?? 0n;
    this.#balances.set(`${owner} ${asset}`, before + change);
    // Random transfers move more than an account holds: balances below zero are not announced.
    return before < 0n || before + change < 0n ? null : { before, after: before + change };
  }

  balances({ asset, token: moved, tokenId, from, to, value: amount }: Transfer): Transfer['balances'] {
    const key = `${asset} ${moved} ${tokenId}`;
    const sides = { from: this.change(from, key, -amount), to: this.change(to, key, amount) };
    return sides.from === null && sides.to === null ? null : sides;
  }
}

describe('a block that listeners hear of', () => {
  test('has the balances of both sides just before and just after each transfer of tokens', () => {
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 6 }), (contentsOfBlocks) => {
        const { index } = openIndex();
        const walk = new Walk();
        const check = ({ transactions }: Block) => {
          for (const effect of transactions.flatMap(({ effects }) => effects)) {
            if (effect.kind !== 'transfer' || effect.asset === 'erc721') continue;
            const expected = walk.balances(effect);
            expect(effect.balances).toEqual(effect.asset === 'native' ? null : expected);
          }
        };
        for (const block of buildAll(CHAIN.id, contentsOfBlocks)) index.append(block, check, EVERYBODY);
      }),
      { numRuns: runs(200) },
    );
  });
});
