import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { folderOf } from '../../support/folder.ts';
import { runs } from '../../support/runs.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy } from './support/contracts.ts';
import { type Answer, type Call, startFaultyNode } from './support/faulty-node.ts';
import { type Followed, follow } from './support/followed.ts';

/** Blocks with transfers of a token and of native currency. */
const trade = async (anvil: Anvil, coin: Contract, blocks: number): Promise<void> => {
  const accounts = await accountsOf(anvil.url);
  const [owner = '0x'] = accounts;
  for (let at = 0; at < blocks; at++) {
    const to = accounts[1 + (at % 5)] ?? '0x';
    await coin.mine('transfer', [to, BigInt(at + 1)], { from: owner });
  }
};

const coinOf = async (anvil: Anvil): Promise<Contract> => {
  const [owner] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  await coin.mine('mint', [owner, 1_000_000n]);
  return coin;
};

/** That the index is what it were if it had been built now, and that the listener knows the same blocks. */
const expectRebuilt = async (followed: Followed, anvil: Anvil): Promise<void> => {
  await followed.caughtUp({ from: anvil.url });
  await using fresh = await follow({ url: anvil.url });
  await fresh.caughtUp();
  expect(followed.contents()).toEqual(fresh.contents());
  for (const { number, hash } of followed.told)
    expect(followed.index.hashAt(31_337, number), `block ${number}`).toBe(hash);
  const last = followed.told.at(-1)?.number;
  if (last !== undefined) expect(last).toBe(followed.index.range(31_337)?.head.number);
};

test('a chain is indexed down to its first block, newest first, and only later blocks are announced', async () => {
  await using anvil = await startAnvil();
  const coin = await coinOf(anvil);
  await anvil.mine(200);
  await using followed = await follow({ url: anvil.url });
  await followed.caughtUp();
  expect(followed.index.range(31_337)).toMatchObject({ from: 0, lowest: { number: 0 } });
  expect(followed.told).toEqual([]);
  const before = await anvil.head();
  await trade(anvil, coin, 3);
  await followed.caughtUp();
  expect(followed.told.map(({ number }) => number)).toEqual([before + 1, before + 2, before + 3]);
  expect(followed.follower.status()).toMatchObject({
    index: { head: before + 3, indexedFrom: 0, indexedTo: before + 3, behind: 0 },
    problem: null,
  });
  await expectRebuilt(followed, anvil);
});

test('reorgs of any depth leave the index that the new chain alone makes', async () => {
  await using anvil = await startAnvil();
  const coin = await coinOf(anvil);
  const [owner, friend] = await accountsOf(anvil.url);
  await trade(anvil, coin, 30);
  await using followed = await follow({ url: anvil.url });
  await followed.caughtUp();
  const count = runs(30, 6);
  for (let run = 1; run <= count; run++) {
    const depth = Math.ceil((30 * run) / count);
    await trade(anvil, coin, run % 3);
    await followed.caughtUp();
    const linesBefore = followed.lines.length;
    const data = coin.data('transfer', friend, BigInt(1000 + run));
    await anvil.rpc('anvil_reorg', depth, [[{ from: owner, to: coin.address, data }, 0]]);
    await followed.caughtUp();
    expect(followed.lines.slice(linesBefore)).toMatchObject([{ message: 'chain reorganised' }]);
  }
  // Blocks that replace older ones are announced like any new ones.
  expect(followed.told.length).toBeGreaterThanOrEqual(30);
  await trade(anvil, coin, 2);
  await expectRebuilt(followed, anvil);
});

test('a chain that was rolled back is followed at once, and from its next block on', async () => {
  await using anvil = await startAnvil();
  const coin = await coinOf(anvil);
  await trade(anvil, coin, 8);
  await using followed = await follow({ url: anvil.url });
  await followed.caughtUp();
  await anvil.rpc('anvil_rollback', 5);
  await followed.caughtUp();
  expect(followed.told).toEqual([]);
  await trade(anvil, coin, 2);
  await expectRebuilt(followed, anvil);
});

describe('a node that is started again', () => {
  test('goes on with its chain, and no block of it is missed', async () => {
    await using anvil = await startAnvil();
    const coin = await coinOf(anvil);
    await using followed = await follow({ url: anvil.url });
    await followed.caughtUp();
    await trade(anvil, coin, 2);
    await anvil.stop();
    await expect.poll(() => followed.problem()).toMatch(/ECONNREFUSED|closed/);
    await anvil.start();
    await trade(anvil, coin, 2);
    await expectRebuilt(followed, anvil);
    expect(followed.problem()).toBeNull();
    expect(followed.told).toHaveLength(4);
    expect(followed.lines.map(({ message }) => message)).toContain('chain followed again');
  });

  test('is another chain when it has lost its own, which is indexed anew', async () => {
    await using anvil = await startAnvil();
    const coin = await coinOf(anvil);
    await trade(anvil, coin, 20);
    await using followed = await follow({ url: anvil.url });
    await followed.caughtUp();
    await anvil.kill();
    await anvil.start();
    await trade(anvil, await coinOf(anvil), 3);

    await expectRebuilt(followed, anvil);
    expect(followed.lines.filter(({ message }) => message === 'index of a chain removed')).toHaveLength(1);
    // The new chain's events are announced from its first block on.
    expect(followed.told.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('may come later than the service', async () => {
    await using anvil = await startAnvil();
    await anvil.kill();
    await using followed = await follow({ url: anvil.url });
    await expect.poll(() => followed.problem()).toContain(`node ${anvil.url}: connect ECONNREFUSED`);
    await anvil.start();
    await trade(anvil, await coinOf(anvil), 2);
    await expectRebuilt(followed, anvil);
  });
});

test('a service that was down follows the chain from where it was, and tells of every block', async () => {
  await using anvil = await startAnvil();
  const coin = await coinOf(anvil);
  const first = await follow({ url: anvil.url });
  await first.caughtUp();
  const before = await anvil.head();
  await first.follower.stop();
  first.database.close();
  await trade(anvil, coin, 3);
  await anvil.mine(100);
  await using followed = await follow({ url: anvil.url, folder: first.folder });
  await expectRebuilt(followed, anvil);
  expect(followed.told[0]?.number).toBe(before + 1);
  expect(followed.told).toHaveLength(103);
});

describe('a node behind something', () => {
  test.each<[what: string, makesFault: () => (method: string, params: readonly unknown[]) => unknown]>([
    [
      'that fails now and then',
      () => {
        let calls = 0;
        return () =>
          ++calls % 3 === 0 ? { error: { code: -32005, message: 'rate limit exceeded' } } : undefined;
      },
    ],
    [
      'that loses blocks and receipts now and then',
      () => {
        let calls = 0;
        return (method) =>
          /ByNumber$|Receipts$/.test(method) && ++calls % 4 === 0 ? { result: null } : undefined;
      },
    ],
    [
      'that has no receipts of blocks',
      () => (method) =>
        /BlockReceipts/.test(method) ? { error: { code: -32601, message: 'Method not found' } } : undefined,
    ],
    [
      'that gives garbage now and then',
      () => {
        let calls = 0;
        return () => (++calls % 5 === 0 ? { result: { garbage: 'x'.repeat(1000) } } : undefined);
      },
    ],
  ])('%s makes no gap', async (_, makeFault) => {
    await using anvil = await startAnvil();
    const coin = await coinOf(anvil);
    await trade(anvil, coin, 10);
    await using faulty = await startFaultyNode(anvil.url);
    const fault = makeFault();
    faulty.faults.call = async (call, ask) =>
      (fault(call.method, call.params) as Record<string, unknown> | undefined) ?? ask();
    await using followed = await follow({ url: faulty.url });
    await trade(anvil, coin, 5);
    await anvil.rpc('anvil_reorg', 3, []);
    await trade(anvil, coin, 5);
    await expectRebuilt(followed, anvil);
  });

  test('that asks nodes which are behind is not taken for a reorg', async () => {
    await using anvil = await startAnvil();
    const coin = await coinOf(anvil);
    await trade(anvil, coin, 10);
    await using faulty = await startFaultyNode(anvil.url);
    let calls = 0;
    faulty.faults.call = async (call, ask) => {
      const isBehind = call.params[0] === 'latest' && ++calls % 2 === 0;
      const head = await anvil.head();
      if (!isBehind) return ask();
      const block = await anvil.rpc('eth_getBlockByNumber', `0x${(head - 4).toString(16)}`, false);
      return { result: block };
    };
    await using followed = await follow({ url: faulty.url });
    await followed.caughtUp({ from: anvil.url });
    await trade(anvil, coin, 5);
    await expectRebuilt(followed, anvil);
    expect(followed.lines.map(({ message }) => message)).not.toContain('chain reorganised');
  });
});

/** Another chain, of which a backend behind a balancer may be. */
const startStranger = async (): Promise<Anvil> => {
  const stranger = await startAnvil();
  await stranger.kill();
  await stranger.start();
  await stranger.mine(40);
  return stranger;
};

describe('a wrong answer of another backend removes nothing', () => {
  test.each<[what: string, isWrong: (method: string, params: readonly unknown[]) => boolean]>([
    [
      'about the genesis block, during a reorg',
      (method, [tag]) => method === 'eth_getBlockByNumber' && tag === '0x0',
    ],
    ['about the newest block', (_, [tag]) => tag === 'latest'],
    ['about blocks', (method) => method.startsWith('eth_getBlock')],
  ])('%s', async (_, isWrong) => {
    await using anvil = await startAnvil();
    await using stranger = await startStranger();
    const coin = await coinOf(anvil);
    await trade(anvil, coin, 30);
    await using faulty = await startFaultyNode(anvil.url);
    await using followed = await follow({ url: faulty.url });
    await followed.caughtUp();
    let wrong = 0;
    faulty.faults.call = async ({ method, params }, ask) => {
      if (wrong >= 3 || !isWrong(method, params)) return ask();
      wrong += 1;
      return { result: await stranger.rpc(method, ...params) };
    };
    for (let round = 0; round < 3; round++) {
      await anvil.rpc('anvil_reorg', 3, []);
      await trade(anvil, coin, 2);
    }
    await expectRebuilt(followed, anvil);
    expect(wrong).toBe(3);
    expect(followed.lines.map(({ message }) => message)).not.toContain('index of a chain removed');
    // All of these blocks were announced, and no others.
    const [first = 0] = followed.told.map(({ number }) => number);
    const last = await anvil.head();
    expect(followed.told.map(({ number }) => number)).toEqual(
      Array.from({ length: last - first + 1 }, (_each, at) => first + at),
    );
  });
});

/** Makes the index of a folder one of another format. */
const setFormat = (folder: string, format: number): void => {
  using database = new DatabaseSync(join(folder, 'index.sqlite'));
  database.exec(`PRAGMA user_version = ${format}`);
};

describe('an index of an earlier release', () => {
  test('of another format is made anew, and blocks that came in meanwhile are announced', async () => {
    await using anvil = await startAnvil();
    await using folder = await folderOf({});
    const coin = await coinOf(anvil);
    await trade(anvil, coin, 5);
    const before = await anvil.head();
    {
      await using followed = await follow({ url: anvil.url, folder: folder.path('') });
      await followed.caughtUp();
    }
    setFormat(folder.path(''), 1);
    // More blocks than a first start indexes in order.
    await anvil.mine(100);
    await trade(anvil, coin, 3);
    const head = await anvil.head();
    await using followed = await follow({ url: anvil.url, folder: folder.path('') });
    await expectRebuilt(followed, anvil);
    expect(followed.told.map(({ number }) => number)).toEqual(
      Array.from({ length: head - before }, (_, at) => before + 1 + at),
    );
  });
});

describe('what can not be followed is named', () => {
  test('a node of another chain', async () => {
    await using anvil = await startAnvil();
    await using followed = await follow({ url: anvil.url, chainId: 5 });
    await expect.poll(() => followed.problem()).toContain('expected a node of chain 5, got chain 31337');
    expect(followed.lines.filter(({ details }) => 'problem' in details)).toHaveLength(1);
  });

  test('a node whose blocks are parents of each other, until they are those of a chain', async () => {
    await using anvil = await startAnvil();
    const coin = await coinOf(anvil);
    await trade(anvil, coin, 5);
    await using faulty = await startFaultyNode(anvil.url);
    await using followed = await follow({ url: faulty.url });
    await followed.caughtUp();
    const head = await anvil.head();
    const [one, other] = ['11', '22'].map((byte) => `0x${byte.repeat(32)}`);
    const block = (number: number, hash?: string, parentHash?: string) => ({
      result: {
        number: `0x${number.toString(16)}`,
        hash,
        parentHash,
        timestamp: '0x70000000',
        transactions: [],
      },
    });
    faulty.faults.call = ({ method, params: [of] }, ask) => {
      if (of === other) return block(head, other, one);
      const isNewest = of === one || of === 'latest' || Number(of) === head + 1;
      return isNewest && method.startsWith('eth_getBlockBy') ? block(head + 1, one, other) : ask();
    };
    await expect.poll(() => followed.problem()).toMatch(/the parent of block \d+, got block \d+/);
    faulty.faults.call = undefined;
    await trade(anvil, coin, 3);
    await expectRebuilt(followed, anvil);
  });

  test('a first block beyond the head, until the chain has come there', async () => {
    await using anvil = await startAnvil();
    await anvil.mine(3);
    await using followed = await follow({ url: anvil.url, startBlock: 6 });
    await expect
      .poll(() => followed.problem())
      .toContain('expected to begin at most at the head, block 3, got 6');
    await anvil.mine(5);
    await followed.caughtUp();
    expect(followed.problem()).toBeNull();
    expect(followed.index.range(31_337)?.lowest.number).toBe(6);
  });

  test('a pruned node whose first block was wanted: the newer ones are indexed', async () => {
    await using anvil = await startAnvil();
    await anvil.mine(150);
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.call = pruned;
    await using followed = await follow({ url: faulty.url, startBlock: 0 });
    await expect.poll(() => followed.problem()).toMatch(/expected block 49, got none: .* pruned/);
    await anvil.mine(1);
    await expect.poll(() => followed.told.map(({ number }) => number)).toEqual([151]);
    expect(followed.index.range(31_337)).toMatchObject({ lowest: { number: 50 }, from: 0 });
  });
});

/** Of a node that has lost the blocks below 50. */
const pruned = ({ params: [block] }: Call, ask: () => Promise<Answer>) =>
  typeof block === 'string' && block.length < 66 && Number(block) < 50 ? { result: null } : ask();

describe('blocks that begin late are followed from the first one', () => {
  test('of a chain', async () => {
    await using anvil = await startAnvil({ args: ['--number', '20000'] });
    await using followed = await follow({ url: anvil.url });
    await anvil.mine(3);
    await expect
      .poll(() => followed.index.range(31_337))
      .toMatchObject({ head: { number: 20_003 }, from: 20_000 });
    expect(followed.problem()).toBeNull();
  });

  test('of a node that has pruned older ones, but not while it has none', async () => {
    await using anvil = await startAnvil();
    await anvil.mine(150);
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.call = ({ method }, ask) => (method === 'eth_getBlockByNumber' ? { result: null } : ask());
    await using followed = await follow({ url: faulty.url });
    await expect.poll(() => followed.problem()).not.toBeNull();
    faulty.faults.call = pruned;
    await expect.poll(() => followed.index.range(31_337)).toMatchObject({ lowest: { number: 50 }, from: 50 });
    await anvil.mine(1);
    await expect.poll(() => followed.told.map(({ number }) => number)).toEqual([151]);
    expect(followed.problem()).toBeNull();
  });
});

test('a listener that fails keeps its block out of the index until it does not', async () => {
  await using anvil = await startAnvil();
  let failures = 3;
  await using followed = await follow({
    url: anvil.url,
    onAdded() {
      if (failures-- > 0) throw new Error('no room for deliveries');
    },
  });
  await followed.caughtUp();
  await anvil.mine();
  await expectRebuilt(followed, anvil);
  expect(followed.told).toHaveLength(1);
  expect(followed.index.added(31_337)).toEqual({ blocks: 2, transactions: 0 });
  expect(followed.lines.find(({ details }) => 'problem' in details)?.details).toMatchObject({
    problem: 'no room for deliveries',
  });
});

test('a full disk stops the index, which goes on when there is room', async () => {
  await using anvil = await startAnvil();
  const coin = await coinOf(anvil);
  await using followed = await follow({ url: anvil.url });
  await followed.caughtUp();
  const pages = Number(followed.database.prepare('PRAGMA page_count').get()?.page_count);
  followed.database.exec(`PRAGMA max_page_count = ${pages + 2}`);
  await trade(anvil, coin, 60);
  await expect.poll(() => followed.problem()).toContain('database or disk is full');
  const kept = followed.index.range(31_337)?.head.number ?? 0;
  expect(kept).toBeLessThan(await anvil.head());
  followed.database.exec('PRAGMA max_page_count = 1000000');
  await expectRebuilt(followed, anvil);
  expect(followed.told).toHaveLength(60);
  expect(followed.problem()).toBeNull();
});
