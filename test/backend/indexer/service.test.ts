import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/backend/indexer/database/database.ts';
import { folderOf } from '../../support/folder.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { startReceiver } from '../dispatch/support/receiver.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { SILENCE } from './support/node-faults.ts';
import { openIndexed as open } from './support/service.ts';

const CHAIN = 31_337;

const chainOf = ({ url }: { url: string }, startBlock: number | null = null) => ({
  chains: [{ id: CHAIN, url, startBlock }],
});

const ETHER = 10n ** 18n;
const MB = 1024 * 1024;

/** The members of a delivery's items that are asked for. */
const itemsOf = (body: string, member: string): readonly Json[] =>
  (JSON.parse(body) as Record<string, readonly Json[]>)[member] ?? [];

describe('a chain of its own', () => {
  let anvil: Anvil;
  beforeAll(async () => {
    anvil = await startAnvil();
  });
  afterAll(() => anvil[Symbol.asyncDispose]());

  test('is looked up like any other: balances, transactions, holders, names', async () => {
    const [owner = '0x', friend = '0x'] = await accountsOf(anvil.url);
    const coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
    await coin.mine('mint', [owner, 1_000_000n]);
    await using service = await open(chainOf(anvil));
    await service.indexed(await anvil.head());
    const { blockNumber } = await coin.mine('transfer', [friend, 2500n]);
    await service.indexed(blockNumber);
    const balances = await service.ask(`/v1/evm/balances/${friend}`);
    expect(balances.json.balances).toEqual([
      expect.objectContaining({ address: 'native', amount: String(10_000n * ETHER), symbol: 'ETH' }),
      expect.objectContaining({ address: coin.address, amount: '2500', symbol: 'REAL', name: 'Real Coin' }),
    ]);
    const transactions = await service.ask(`/v1/evm/transactions/${friend}?decode=true`);
    expect(transactions.json.transactions).toMatchObject([
      { to: coin.address, from: owner, block_number: String(blockNumber), decoded: { name: 'transfer' } },
    ]);
    const holders = await service.ask(`/v1/evm/token-holders/${CHAIN}/${coin.address}`);
    expect((holders.json.holders as readonly Json[]).map(({ balance }) => balance)).toEqual([
      '997500',
      '2500',
    ]);
    expect((await service.ask('/health')).status).toBe(200);
  });

  test('delivers transactions, activities and balances with what they were before and after', async () => {
    const [owner = '0x', friend = '0x', watched = '0x'] = await accountsOf(anvil.url);
    const coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
    await coin.mine('mint', [owner, 1_000_000n]);
    await using receiver = await startReceiver();
    await using service = await open(chainOf(anvil));
    await service.indexed(await anvil.head());
    for (const type of ['transactions', 'activities', 'balances'] as const)
      await service.subscribe(type, `${receiver.url}/${type}`, [watched]);
    await coin.mine('transfer', [watched, 700n]);
    await receiptOf(
      anvil.url,
      await sendTransaction(anvil.url, friend, '0x', { from: watched, value: ETHER }),
    );
    const bodies = (path: string) =>
      receiver.received.filter((each) => each.path === `/${path}`).map(({ body }) => body);
    await expect.poll(() => bodies('balances').length).toBe(2);
    const changes = bodies('balances').flatMap((body) => itemsOf(body, 'balance_changes'));
    const native = changes.find(({ asset }) => (asset as Json).token_address === null);
    const token = changes.find(({ asset }) => (asset as Json).token_address === coin.address);
    expect(token).toMatchObject({ amount_before: '0', amount_after: '700', direction: 'in' });
    expect(native).toMatchObject({ amount_delta: String(-ETHER), direction: 'out' });
    const head = await anvil.head();
    const balanceAt = async (number: number) =>
      String(BigInt(String(await anvil.rpc('eth_getBalance', watched, `0x${number.toString(16)}`))));
    expect([native?.amount_before, native?.amount_after]).toEqual([
      await balanceAt(head - 1),
      await balanceAt(head),
    ]);
    await expect
      .poll(() => bodies('activities').flatMap((body) => itemsOf(body, 'activities')))
      .toMatchObject([
        { type: 'receive', value: '700' },
        { type: 'send', value: String(ETHER) },
      ]);
    await expect
      .poll(() => bodies('transactions').flatMap((body) => itemsOf(body, 'transactions')).length)
      .toBeGreaterThan(0);
  });

  test('delivers what the index knows of balances where the node has lost the state of a block', async () => {
    const [owner = '0x', friend = '0x', watched = '0x'] = await accountsOf(anvil.url);
    const coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
    await coin.mine('mint', [owner, 1_000_000n]);
    await using faulty = await startFaultyNode(anvil.url);
    faulty.faults.call = (call, ask) =>
      call.method === 'eth_getBalance' ? { error: { code: -32000, message: 'missing trie node' } } : ask();
    await using receiver = await startReceiver();
    await using service = await open(chainOf(faulty));
    await service.indexed(await anvil.head());
    await service.subscribe('balances', receiver.url, [watched]);
    await receiptOf(
      anvil.url,
      await sendTransaction(anvil.url, friend, '0x', { from: watched, value: ETHER }),
    );
    await coin.mine('transfer', [watched, 700n]);
    // The state is asked for again for some time: another node of a balancer may have it.
    const changes = () => receiver.received.flatMap(({ body }) => itemsOf(body, 'balance_changes'));
    await expect
      .poll(changes)
      .toMatchObject([{ asset: { token_address: coin.address }, amount_before: '0', amount_after: '700' }]);
    expect(service.lines.filter(({ message }) => message === 'balances not delivered')).toHaveLength(1);
  });

  test('from a late block on says what it can: balances are those of the node', async () => {
    const [owner = '0x', friend = '0x', watched = '0x'] = await accountsOf(anvil.url);
    const coin = await deploy(anvil.url, 'Coin', ['Old Coin', 'OLD', 6]);
    await coin.mine('mint', [owner, 1_000_000n]);
    await coin.mine('transfer', [watched, 300n]);
    await anvil.mine();
    const start = await anvil.head();
    await using receiver = await startReceiver();
    await using service = await open(chainOf(anvil, start));
    await expect.poll(async () => (await service.progress())[0]?.indexedTo).toBe(start);
    await service.subscribe('balances', receiver.url, [watched]);
    const { blockNumber } = await coin.mine('transfer', [friend, 100n], { from: watched });
    await expect.poll(async () => (await service.progress())[0]?.indexedTo).toBe(blockNumber);
    const { json } = await service.ask(`/v1/evm/balances/${watched}`);
    expect(json.balances).toContainEqual(expect.objectContaining({ address: coin.address, amount: '200' }));
    const [delivery] = await receiver.until(1);
    expect(itemsOf(delivery?.body ?? '{}', 'balance_changes')).toMatchObject([
      { amount_before: '300', amount_after: '200' },
    ]);
    const chains = (await service.ask('/v1/evm/supported-chains')).json.chains;
    expect(chains).toMatchObject([{ token_holders: { supported: false }, balances: { supported: true } }]);
  });
});

test('a chain that can not be followed is named, and the others go on', async () => {
  await using anvil = await startAnvil();
  await using other = await startAnvil({ args: ['--chain-id', '7'] });
  await using gone = await startAnvil();
  await gone.kill();
  await using service = await open({
    chains: [
      { id: CHAIN, url: anvil.url, startBlock: null },
      { id: 8, url: other.url, startBlock: null },
      { id: 9, url: gone.url.replace('//', '//user:password@'), startBlock: null },
    ],
  });
  await service.indexed(0);
  const health = () => service.ask('/health');
  await expect.poll(health).toEqual({
    status: 503,
    json: {
      status: 'unavailable',
      problems: [
        `chain 8: node ${other.url}: expected a node of chain 8, got chain 7`,
        expect.stringMatching(`^chain 9: node ${gone.url}: .*ECONNREFUSED`),
      ],
      chains: [
        { chain_id: CHAIN, index: expect.objectContaining({ head: 0, behind: 0 }) },
        { chain_id: 8, index: { problem: expect.stringContaining('got chain 7') } },
        { chain_id: 9, index: { problem: expect.stringContaining('ECONNREFUSED') } },
      ],
    },
  });
  expect(JSON.stringify([service.lines, await service.progress()])).not.toContain('password');
  await anvil.mine(3);
  await service.indexed(3);
});

test('a node that takes calls and does not answer is a problem that says for how long, and one line', async () => {
  await using anvil = await startAnvil();
  await using faulty = await startFaultyNode(anvil.url, { webSocket: true });
  await using service = await open(chainOf({ url: faulty.url.replace('http', 'ws') }));
  await service.indexed(0);
  const silence = faulty.inject(SILENCE);
  const problems = async () => (await service.ask('/health')).json.problems ?? [];
  const silentFor = (seconds: string) => [
    expect.stringMatching(
      `^chain ${CHAIN}: node ws://${faulty.host}: the node does not answer, for ${seconds} seconds$`,
    ),
  ];
  await expect.poll(problems).toEqual(silentFor('\\d+'));
  await expect.poll(problems).toEqual(silentFor('1\\d'));
  expect(service.lines.filter(({ message }) => message === 'chain not followed')).toHaveLength(1);
  await anvil.mine(2);
  silence.end();
  await service.indexed(2);
  await expect.poll(problems).toEqual([]);
});

test.each([
  ['times in milliseconds', { timestamp: '0x199999999ff' }, 'the time of a block in seconds'],
  ['block numbers from 2^36 on', { number: '0x1000000000' }, 'the number of a block below 2^36'],
])('%s are refused in words, and nothing of them is stored', async (_, change, problem) => {
  await using anvil = await startAnvil();
  await using faulty = await startFaultyNode(anvil.url);
  await using service = await open(chainOf(faulty));
  await service.indexed(0);
  faulty.faults.call = async (call, ask) => {
    const { result, ...answer } = await ask();
    const isBlock = call.method === 'eth_getBlockByNumber' && result !== null;
    return { ...answer, result: isBlock ? { ...Object(result), ...change } : result };
  };
  await anvil.mine(2);
  await expect
    .poll(async () => (await service.ask('/health')).json.problems)
    .toEqual([expect.stringContaining(`expected ${problem}`)]);
  expect(await service.progress()).toMatchObject([{ head: 0, indexedTo: 0 }]);
  faulty.faults.call = undefined;
  await service.indexed(2);
});

test('an index in the folder above, as an older unit has it, is not taken for none', async () => {
  await using folder = await folderOf({ 'index.sqlite': '' });
  const directory = folder.path('index');
  await expect(
    open({ chains: [{ id: 31_337, url: 'http://127.0.0.1:1', startBlock: null }], directory }),
  ).rejects.toThrow(
    `DATA_DIR: expected the index in ${directory}, got one in ${dirname(directory)}: move its files`,
  );
});

test('an index is used by one process at a time, and goes on where it was', async () => {
  await using anvil = await startAnvil();
  const directory = await mkdtemp(join(tmpdir(), 'indexed-'));
  try {
    {
      await using service = await open({ ...chainOf(anvil), directory });
      await service.indexed(0);
      await expect(open({ ...chainOf(anvil), directory })).rejects.toThrow(
        `DATA_DIR: expected a folder that can be written, got ${directory}: another process uses it`,
      );
    }
    await anvil.mine(2);
    await using service = await open({ ...chainOf(anvil), directory });
    await service.indexed(2);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('what was not accepted yet is kept over a restart, but nothing of blocks that were unwound', async () => {
  await using anvil = await startAnvil();
  await using receiver = await startReceiver(() => 500);
  const [, friend = '0x', watched = '0x'] = await accountsOf(anvil.url);
  const directory = await mkdtemp(join(tmpdir(), 'indexed-'));
  const hashIn = (body: string) => itemsOf(body, 'transactions')[0]?.hash;
  let kept = '';
  const pay = async () => {
    const hash = await sendTransaction(anvil.url, friend, '0x', { from: watched, value: ETHER });
    await receiptOf(anvil.url, hash);
    return hash;
  };
  try {
    {
      await using service = await open({ ...chainOf(anvil), directory });
      await service.indexed(await anvil.head());
      await service.subscribe('transactions', receiver.url, [watched]);
      kept = await pay();
      const unwound = await pay();
      const received = await receiver.until(2);
      expect(received.map(({ body }) => hashIn(body))).toEqual(expect.arrayContaining([kept, unwound]));
      await anvil.rpc('anvil_reorg', 1, []);
      await expect
        .poll(() => service.lines)
        .toContainEqual(expect.objectContaining({ message: 'chain reorganised' }));
    }
    const database = openDatabase(join(directory, 'index.sqlite'));
    const pending = database.prepare('SELECT body FROM deliveries').all();
    database.close();
    expect(pending.map(({ body }) => hashIn(String(body)))).toEqual([kept]);
    await using service = await open({ ...chainOf(anvil), directory });
    const { json } = await service.ask('/beta/evm/subscriptions/webhooks');
    expect(json.webhooks).toMatchObject([{ url: receiver.url, active: true }]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('a full disk stops the index, not the answers, and it goes on when there is room', async (context) => {
  const disk = await mountSmallDisk(16 * MB);
  if (disk === null) return context.skip('needs the right to mount a small disk');
  await using anvil = await startAnvil();
  const [owner = '0x', friend = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
  await coin.mine('mint', [owner, 1_000_000n]);
  await using receiver = await startReceiver();
  await using service = await open({ ...chainOf(anvil), directory: join(disk, 'index') });
  await service.indexed(await anvil.head());
  await service.subscribe('activities', receiver.url, [friend]);
  const { bavail, bsize } = await statfs(disk);
  await writeFile(join(disk, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - 64 * 1024)));
  for (let sent = 0; sent < 30; sent++) await coin.mine('transfer', [friend, 1n]);
  await expect
    .poll(async () => (await service.ask('/health')).json.problems)
    .toMatchObject([expect.stringMatching(/^chain 31337: .*(full|disk)/)]);
  expect((await service.ask(`/v1/evm/balances/${owner}`)).status).toBe(200);
  await rm(join(disk, 'filler'));
  await service.indexed(await anvil.head());
  await expect.poll(async () => (await service.ask('/health')).status).toBe(200);
  const told = () =>
    receiver.received.flatMap(({ body }) => itemsOf(body, 'activities')).map(({ tx_hash }) => tx_hash);
  await expect.poll(() => new Set(told()).size).toBe(30);
});
