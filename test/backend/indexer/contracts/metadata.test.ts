import { encode } from 'ox/AbiParameters';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ParsedBlock, parseBlock } from '../../../../src/backend/indexer/blocks/parse.ts';
import { KnownContracts } from '../../../../src/backend/indexer/contracts/known-contracts.ts';
import { Metadata } from '../../../../src/backend/indexer/contracts/metadata.ts';
import { openDatabase } from '../../../../src/backend/indexer/database/database.ts';
import { createNode, type EvmNode } from '../../../../src/backend/node/node.ts';
import type { Chain, Hex } from '../../../../src/backend/types.ts';
import { folderOf } from '../../../support/folder.ts';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { type Contract, deploy, deployLiar, type Lie, place } from '../support/contracts.ts';

const CHAIN: Chain = {
  id: 31337,
  name: 'anvil',
  tags: [],
  native: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  webhooks: true,
  unsupported: [],
};
const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11';
const USER: Hex = '0x00000000000000000000000000000000000000aa';
const HOUR = 3_600_000;

let anvil: Anvil;
let node: EvmNode;

beforeAll(async () => {
  // Enough gas for a name of 10 MB.
  anvil = await startAnvil({ args: ['--gas-limit', '300000000'] });
  node = createNode({ url: anvil.url, chainId: CHAIN.id });
});

afterAll(async () => {
  await node.close();
  await anvil[Symbol.asyncDispose]();
});

type Options = {
  readonly calls?: EvmNode['calls'];
  readonly path?: string;
  readonly now?: () => number;
  readonly report?: (chainId: number, problem: unknown) => void;
  readonly patienceMs?: number;
};

const open = ({
  calls = node.calls,
  path,
  now = Date.now,
  patienceMs = 120_000,
  ...options
}: Options = {}) => {
  const database = openDatabase(path ?? ':memory:');
  const nodes = new Map([[CHAIN.id, { ...node, calls }]]);
  const contracts = new KnownContracts(database, [CHAIN]);
  const metadata = new Metadata({ contracts, nodes, now, patienceMs, ...options });
  metadata.start();
  const token = ({ address }: Contract) => contracts.token(CHAIN.id, address);
  const contract = ({ address }: Contract) => contracts.contract(CHAIN.id, address);
  const stop = async () => {
    await metadata.stop();
    database.close();
  };
  return { metadata, contracts, token, contract, [Symbol.asyncDispose]: stop };
};

const newest = async (): Promise<ParsedBlock> => {
  const fetched = await node.block(await anvil.head());
  if (fetched === null) throw new Error('expected the newest block, got none');
  return parseBlock(CHAIN.id, fetched);
};

test('tokens say what they are called and how they count', async () => {
  await using known = open();
  const coin = await deploy(anvil.url, 'Coin', ['Dollar  Coin\n', 'USD', 6]);
  await coin.mine('mint', [USER, 5n]);
  await known.metadata.learn(await newest(), true);
  expect(known.token(coin)).toEqual({
    chain: CHAIN,
    address: coin.address,
    standard: 'erc20',
    name: 'Dollar Coin',
    symbol: 'USD',
    decimals: 6,
  });
  const art = await deploy(anvil.url, 'Art', ['Pictures', 'ART']);
  await art.mine('mint', [USER, 5n, '']);
  await known.metadata.learn(await newest(), true);
  expect(known.token(art)).toMatchObject({
    standard: 'erc721',
    name: 'Pictures',
    symbol: 'ART',
    decimals: 0,
  });
  const items = await deploy(anvil.url, 'Items', ['']);
  await items.mine('mint', [USER, 5n, 1n]);
  await known.metadata.learn(await newest(), true);
  expect(known.contract(items)).toMatchObject({ standard: 'erc1155', name: null, symbol: null });
  expect(known.token(items)).toBeNull();
  const wrapped = await deploy(anvil.url, 'WrappedNative');
  await wrapped.mine('deposit', [], { value: 1n });
  await known.metadata.learn(await newest(), true);
  expect(known.token(wrapped)).toMatchObject({ symbol: 'WETH', decimals: 18 });
  expect(
    known.contracts
      .tokens(CHAIN.id)
      .map(({ symbol }) => symbol)
      .sort(),
  ).toEqual(['USD', 'WETH']);
  expect(known.contracts.token(CHAIN.id, USER)).toBeNull();
  expect(known.contracts.token(1, coin.address)).toBeNull();
});

const string = (text: string): Lie => ({ returns: encode([{ type: 'string' }], [text]) });
const number = (value: bigint): Lie => ({ returns: encode([{ type: 'uint256' }], [value]) });
const bytes32 = (text: string): Lie => ({
  returns: `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`,
});
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const words = (...values: bigint[]): Lie => ({ returns: `0x${values.map(word).join('')}` });
const nothing: Lie = { returns: '0x' };

/** What each lie comes to. */
const LIES: readonly (readonly [what: string, lies: Readonly<Record<string, Lie>>, known: object | null])[] =
  [
    [
      'the texts of the first tokens',
      { 'name()': bytes32('Maker'), 'symbol()': bytes32('MKR'), 'decimals()': number(18n) },
      { name: 'Maker', symbol: 'MKR', decimals: 18 },
    ],
    ['no decimals', { 'name()': string('A'), 'symbol()': string('A') }, null],
    ['256 decimals', { 'name()': string('A'), 'decimals()': number(256n) }, null],
    ['2^200 decimals', { 'name()': string('A'), 'decimals()': number(2n ** 200n) }, null],
    ['decimals of no bytes', { 'name()': string('A'), 'decimals()': nothing }, null],
    [
      '255 decimals',
      { 'name()': string('A'), 'decimals()': number(255n) },
      { name: 'A', symbol: 'A', decimals: 255 },
    ],
    ['nothing at all', {}, null],
    ['no texts', { 'decimals()': number(6n) }, null],
    [
      'empty texts',
      { 'name()': string(''), 'symbol()': string(' \u200b\u0000'), 'decimals()': number(6n) },
      null,
    ],
    [
      'a name that reverts',
      { 'name()': { reverts: '0x1234' }, 'symbol()': string('S'), 'decimals()': number(6n) },
      { name: 'S', symbol: 'S', decimals: 6 },
    ],
    [
      'a name that burns all gas',
      { 'name()': 'burns gas', 'symbol()': string('S'), 'decimals()': number(6n) },
      { name: 'S', symbol: 'S', decimals: 6 },
    ],
    [
      'a name that re-enters',
      { 'name()': 're-enters', 'symbol()': string('S'), 'decimals()': number(6n) },
      { name: 'S', symbol: 'S', decimals: 6 },
    ],
    [
      'a name of 10 MB',
      { 'name()': { length: 10_000_000 }, 'symbol()': string('S'), 'decimals()': number(6n) },
      { name: 'S', symbol: 'S', decimals: 6 },
    ],
    [
      'a long name',
      {
        'name()': string('ab'.repeat(5_000)),
        'symbol()': string('ab'.repeat(5_000)),
        'decimals()': number(6n),
      },
      { name: 'ab'.repeat(64), symbol: 'ab'.repeat(16), decimals: 6 },
    ],
    [
      'offsets beyond everything',
      { 'name()': words(2n ** 255n, 1n), 'symbol()': words(32n, 2n ** 64n), 'decimals()': number(6n) },
      null,
    ],
    [
      'a text that turns around',
      {
        'name()': string('\u202eUSD\u2066 \u0007C\u061c'),
        'symbol()': string('U\ufeffS\u0000D\u2028T'),
        'decimals()': number(6n),
      },
      { name: 'USD C', symbol: 'US D T', decimals: 6 },
    ],
    [
      'stacks of marks',
      { 'name()': string(`a${'\u0300'.repeat(500)}`), 'decimals()': number(6n) },
      { name: `a${'\u0300'.repeat(3)}`, symbol: `a${'\u0300'.repeat(3)}`, decimals: 6 },
    ],
    [
      'bytes that are no text',
      {
        'name()': { returns: `0x${word(32n)}${word(4n)}fffefdfc${'00'.repeat(28)}` },
        'decimals()': number(6n),
      },
      { name: '\ufffd'.repeat(4), decimals: 6 },
    ],
  ];

/** A node that has not been asked yet whether there is Multicall3. */
const askingAnew = () => {
  const fresh = createNode({ url: anvil.url, chainId: CHAIN.id });
  return { calls: fresh.calls, [Symbol.asyncDispose]: () => fresh.close() };
};

test.each([false, true])(
  'tokens that lie are known as far as they make sense, with Multicall3: %s',
  async (deployed) => {
    if (deployed) await place(anvil.url, 'Multicall3', MULTICALL);
    await using asking = askingAnew();
    await using known = open({ calls: asking.calls });
    const liars: Contract[] = [];
    for (const [, lies] of LIES) {
      const liar = await deployLiar(anvil.url, lies);
      await liar.mine('mint', [USER, 1n]);
      // All are asked at once, so that one could take what the others need.
      void known.metadata.learn(await newest(), false);
      liars.push(liar);
    }
    const honest = await deploy(anvil.url, 'Coin', ['Honest', 'HON', 2]);
    await honest.mine('mint', [USER, 1n]);
    await known.metadata.learn(await newest(), true);
    expect(known.token(honest)).toMatchObject({ symbol: 'HON', decimals: 2 });
    const expected = LIES.map(([what, , token]) => [
      what,
      token === null ? null : expect.objectContaining(token),
    ]);
    await expect.poll(() => liars.map((liar, at) => [LIES[at]?.[0], known.token(liar)])).toEqual(expected);
  },
);

test('a contract that said nothing is asked again later, ever less often, also by the next run', async () => {
  let time = Date.now();
  const asked: Hex[] = [];
  const calls: EvmNode['calls'] = (list) => {
    asked.push(...list.map(({ to }) => to));
    return list.map(async () => null);
  };
  await using files = await folderOf({});
  const coin = await deploy(anvil.url, 'Coin', ['Later', 'LATE', 6]);
  await coin.mine('mint', [USER, 5n]);
  const block = await newest();
  /** Whether a run asks the contract. */
  const isAsked = async (): Promise<boolean> => {
    asked.length = 0;
    await using known = open({ calls, path: files.path('index.sqlite'), now: () => time });
    await known.metadata.learn(block, true);
    const other = await deploy(anvil.url, 'Coin', ['Other', 'OTHER', 6]);
    await other.mine('mint', [USER, 5n]);
    // The newest is asked first.
    await known.metadata.learn(await newest(), true);
    await expect.poll(() => asked).toContain(other.address);
    return asked.includes(coin.address);
  };
  expect(await isAsked()).toBe(true);
  expect(await isAsked()).toBe(false);
  time += HOUR;
  expect(await isAsked()).toBe(true);
  time += HOUR;
  expect(await isAsked()).toBe(false);
  time += HOUR;
  expect(await isAsked()).toBe(true);
});

test('a contract that the node fails on does not keep others from being asked', async () => {
  const [bad, good] = [
    await deploy(anvil.url, 'Coin', ['B', 'B', 6]),
    await deploy(anvil.url, 'Coin', ['G', 'G', 6]),
  ];
  const calls: EvmNode['calls'] = (list, at) =>
    node.calls(list, at).map(async (answer, index) => {
      if (list[index]?.to === bad.address) throw new Error('the node timed out');
      return answer;
    });
  await using known = open({ calls });
  await good.mine('mint', [USER, 5n]);
  void known.metadata.learn(await newest(), false);
  await bad.mine('mint', [USER, 5n]);
  void known.metadata.learn(await newest(), false);
  await expect.poll(() => known.token(good), { timeout: 60_000 }).toMatchObject({ symbol: 'G' });
  expect(known.token(bad)).toBeNull();
});

test('a contract that the node can not ask, while it can ask others, is asked again soon, and then says nothing', async () => {
  let time = Date.now();
  let asked = 0;
  const bad = await deploy(anvil.url, 'Coin', ['Bad', 'BAD', 6]);
  const calls: EvmNode['calls'] = (list, at) => {
    if (list.some(({ to }) => to === bad.address)) asked += 1;
    return node.calls(list, at).map(async (answer, index) => {
      if (list[index]?.to === bad.address) throw new Error('out of gas');
      return answer;
    });
  };
  await using known = open({ calls, now: () => time });
  await bad.mine('mint', [USER, 5n]);
  await known.metadata.learn(await newest(), true);
  const begin = time;
  for (const [seconds, count] of [
    [0.5, 1],
    [1, 2],
    [4, 2],
    [5, 3],
    [20, 3],
    [21, 4],
    [84, 4],
    [85, 5],
    [3_600, 5],
    [3_685, 6],
  ] as const) {
    time = begin + seconds * 1000;
    // What is due is asked together with a new one.
    const other = await deploy(anvil.url, 'Coin', ['Good', 'GOOD', 6]);
    await other.mine('mint', [USER, 5n]);
    await known.metadata.learn(await newest(), true);
    expect(known.token(other)).toMatchObject({ symbol: 'GOOD' });
    await expect.poll(() => [seconds, asked]).toEqual([seconds, count]);
    expect(known.contract(bad)?.isPending).toBe(seconds < 85);
  }
});

test('while a node fails nothing is learned of its contracts, and it says so once', async () => {
  const reports: string[] = [];
  let isFailing = true;
  const calls: EvmNode['calls'] = (list, at) =>
    node.calls(list, at).map(async (answer) => {
      if (isFailing) throw new Error('Internal error');
      return answer;
    });
  await using known = open({
    calls,
    report: (chainId, problem) =>
      reports.push(`${chainId} ${problem instanceof Error ? problem.message : problem}`),
    patienceMs: 1,
  });
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  await coin.mine('mint', [USER, 5n]);
  await known.metadata.learn(await newest(), true);
  await expect.poll(() => reports).toEqual([`${CHAIN.id} Internal error`]);
  expect(known.contract(coin)).toMatchObject({ isPending: true, name: null });
  isFailing = false;
  await expect.poll(() => known.token(coin)).toMatchObject({ symbol: 'COIN' });
  expect(known.contract(coin)).toMatchObject({ isPending: false });
  expect(reports).toEqual([`${CHAIN.id} Internal error`, `${CHAIN.id} null`]);
});

test('a contract is forgotten with the block in which it was first seen', async () => {
  await using known = open();
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  await coin.mine('mint', [USER, 5n]);
  const first = await newest();
  await coin.mine('mint', [USER, 5n]);
  await known.metadata.learn(await newest(), true);
  await known.metadata.learn(first, false);
  known.metadata.forget(CHAIN.id, first.number + 1);
  expect(known.token(coin)).toMatchObject({ symbol: 'COIN' });
  known.metadata.forget(1, 0);
  expect(known.token(coin)).toMatchObject({ symbol: 'COIN' });
  known.metadata.forget(CHAIN.id, first.number);
  expect(known.contract(coin)).toBeNull();
});

test('a block waits for its tokens only so long', async () => {
  const never = Promise.withResolvers<Hex>();
  const database = openDatabase(':memory:');
  const nodes = new Map([[CHAIN.id, { ...node, calls: () => [never.promise] }]]);
  const contracts = new KnownContracts(database, [CHAIN]);
  const metadata = new Metadata({ contracts, nodes, patienceMs: 1 });
  metadata.start();
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  await coin.mine('mint', [USER, 5n]);
  await metadata.learn(await newest(), true);
  expect(contracts.token(CHAIN.id, coin.address)).toBeNull();
  never.reject(new Error('closed'));
  await metadata.stop();
});

test('another contract in the place of Multicall3 keeps no token from being asked', async () => {
  const other = await place(anvil.url, 'Liar', MULTICALL);
  const aggregate3 = '0x82ad56cb';
  await using asking = askingAnew();
  await using known = open({ calls: asking.calls });
  for (const answer of ['0x', `0x${'ff'.repeat(64)}`, `0x${word(32n)}${word(3n)}${word(0n).repeat(3)}`]) {
    await other.mine('lie', [aggregate3, 1, answer]);
    const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
    await coin.mine('mint', [USER, 5n]);
    await known.metadata.learn(await newest(), true);
    expect(known.token(coin)).toMatchObject({ symbol: 'COIN' });
  }
});
