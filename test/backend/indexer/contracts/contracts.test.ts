import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import {
  accountsOf,
  deploy,
  deployLiar,
  place,
  receiptOf,
  rpc,
  sendTransaction,
} from '../support/contracts.ts';

/** That the contracts of the tests do what the tests rely on. */

let anvil: Anvil;
let url: string;

beforeAll(async () => {
  anvil = await startAnvil();
  url = anvil.url;
});

afterAll(() => anvil[Symbol.asyncDispose]());

test('tokens are minted, sent and swapped', async () => {
  const [owner, friend] = await accountsOf(url);
  const [a, b] = [await deploy(url, 'Coin', ['A', 'A', 6]), await deploy(url, 'Coin', ['B', 'B', 18])];
  const pool = await deploy(url, 'Pool', [a.address, b.address]);
  await a.mine('mint', [pool.address, 1000n]);
  await b.mine('mint', [pool.address, 4000n]);
  await a.mine('mint', [owner, 1000n]);
  await a.mine('approve', [pool.address, 1000n]);
  const { logs } = await pool.mine('swap', [a.address, 1000n]);
  expect(logs.map(({ address }) => address)).toEqual([a.address, b.address, pool.address]);
  expect(await b.read('balanceOf', owner)).toBe(2000n);
  await b.mine('transfer', [friend, 500n]);
  expect(await b.read('balanceOf', friend)).toBe(500n);
  const failed = await receiptOf(url, await b.send('transfer', [friend, 5000n], { gas: 100_000n }));
  expect(failed).toMatchObject({ status: false, logs: [] });
});

test('collectibles have URIs', async () => {
  const [owner] = await accountsOf(url);
  const art = await deploy(url, 'Art', ['Art', 'ART']);
  await art.mine('mint', [owner, 7n, 'ipfs://seven']);
  expect(await art.read('tokenURI', 7n)).toBe('ipfs://seven');
  await art.mine('burn', [7n]);
  const items = await deploy(url, 'Items', ['https://items.test/{id}.json']);
  await items.mine('mintBatch', [owner, [1n, 2n], [3n, 4n]]);
  expect(await items.read('balanceOf', owner, 2n)).toBe(4n);
});

test('contracts pay on, and create contracts', async () => {
  const payer = await deploy(url, 'Payer');
  const [one, other] = [
    '0x00000000000000000000000000000000000000a1',
    '0x00000000000000000000000000000000000000a2',
  ];
  await payer.mine('split', [[one, other]], { value: 5n });
  expect(await rpc(url, 'eth_getBalance', one, 'latest')).toBe('0x2');
  expect(await rpc(url, 'eth_getBalance', other, 'latest')).toBe('0x3');
  await payer.mine('payInVain', [one], { value: 5n });
  expect(await rpc(url, 'eth_getBalance', one, 'latest')).toBe('0x2');
  const creator = await deploy(url, 'Creator');
  const { logs } = await creator.mine('create', ['Made', 'MADE']);
  expect(logs).toHaveLength(1);
  const wrapped = await deploy(url, 'WrappedNative');
  await receiptOf(url, await sendTransaction(url, wrapped.address, '0x', { value: 9n }));
  expect(await wrapped.read('totalSupply')).toBe(9n);
});

test('liars answer as they were told to', async () => {
  const multicall = await place(url, 'Multicall3', '0xca11bde05977b3631167028862be2a173976ca11');
  const lies = {
    'decimals()': { returns: '0xff' },
    'name()': { reverts: '0x1234' },
    'symbol()': { length: 100_000 },
    'burning()': 'burns gas',
    'entering()': 're-enters',
  } as const;
  const liar = await deployLiar(url, lies);
  const call = (data: string) => rpc(url, 'eth_call', { to: liar.address, data }, 'latest');
  expect(await call('0x313ce567')).toBe('0xff');
  expect(await call('0x95d89b41')).toHaveLength(2 + 2 * (64 + 100_000));
  await expect(call('0x06fdde03')).rejects.toThrow(/revert/);
  await expect(call('0x12345678')).rejects.toThrow(/revert/);
  const asked = [
    [liar.address, true, '0x313ce567'],
    [liar.address, true, '0x06fdde03'],
  ];
  expect(await multicall.read('aggregate3', asked)).toEqual([
    { success: true, returnData: '0xff' },
    { success: false, returnData: '0x1234' },
  ]);
});
