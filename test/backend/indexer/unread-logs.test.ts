import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { startReceiver } from '../dispatch/support/receiver.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { compare, itemsIn } from './support/held.ts';
import { openIndexed } from './support/service.ts';

/**
 * Logs that can be read in several ways while the node does not say what their contract is: they are read once it does, also where a
 * reorg took back what it was to be asked about.
 */

const ownerOf = parseFunction('function ownerOf(uint256 tokenId) returns (address)');

let anvil: Anvil;
let users: readonly Hex[];
let alice: Hex;
let bob: Hex;

beforeAll(async () => {
  anvil = await startAnvil();
  users = (await accountsOf(anvil.url)).slice(0, 3);
  [alice = '0x', bob = '0x'] = users;
});
afterAll(() => anvil[Symbol.asyncDispose]());

const open = async (node: { readonly url: string } = anvil) => {
  const service = await openIndexed({ chains: [{ id: 31_337, url: node.url, startBlock: null }] });
  await service.indexed(await anvil.head());
  return service;
};

/** Contracts answer nothing, while everything else works. */
const silence = (node: Awaited<ReturnType<typeof startFaultyNode>>) => {
  node.faults.call = (call, ask) =>
    call.method === 'eth_call' ? { error: { code: -32_000, message: 'header not found' } } : ask();
};

test('a deposit that a reorg took back does not decide what later ones mean', async () => {
  await using node = await startFaultyNode(anvil.url);
  await using service = await open(node);
  const wrapped = await deploy(anvil.url, 'WrappedNative');
  await wrapped.mine('transfer', [bob, 0n]);
  await service.indexed(await anvil.head());
  silence(node);
  await wrapped.mine('deposit', [], { from: bob, value: 5n });
  await expect.poll(async () => (await service.progress())[0]?.indexedTo).toBe(await anvil.head());
  await anvil.rpc('anvil_reorg', 1, []);
  await anvil.mine();
  await service.indexed(await anvil.head());
  node.faults.call = (_, ask) => ask();
  await wrapped.mine('deposit', [], { from: bob, value: 7n });
  await service.indexed(await anvil.head());
  await expect
    .poll(() => compare(service, users, wrapped, { coin: true }).then(() => true, String))
    .toBe(true);
});

test('where a reorg took back the last deposit, the one before says what they mean', async () => {
  await using node = await startFaultyNode(anvil.url);
  await using service = await open(node);
  const wrapped = await deploy(anvil.url, 'WrappedNative');
  await wrapped.mine('transfer', [bob, 0n]);
  await service.indexed(await anvil.head());
  silence(node);
  await wrapped.mine('deposit', [], { value: 5n });
  await wrapped.mine('deposit', [], { from: bob, value: 3n });
  await expect.poll(async () => (await service.progress())[0]?.indexedTo).toBe(await anvil.head());
  await anvil.rpc('anvil_reorg', 1, []);
  await anvil.mine();
  await service.indexed(await anvil.head());
  node.faults.call = (_, ask) => ask();
  await expect
    .poll(() => compare(service, users, wrapped, { coin: true }).then(() => true, String))
    .toBe(true);
});

test('a deposit says what it means, also where the newest block has none', async () => {
  await using node = await startFaultyNode(anvil.url);
  await using service = await open(node);
  const wrapped = await deploy(anvil.url, 'WrappedNative');
  silence(node);
  await wrapped.mine('deposit', [], { from: bob, value: 5n });
  await wrapped.mine('transfer', [bob, 0n]);
  await expect.poll(async () => (await service.progress())[0]?.indexedTo).toBe(await anvil.head());
  node.faults.call = (_, ask) => ask();
  await expect
    .poll(() => compare(service, users, wrapped, { coin: true }).then(() => true, String))
    .toBe(true);
});

test('a coin whose only logs a reorg took back, or that are not settled yet, is what it says when it is asked', async () => {
  await using service = await open();
  const wrapped = await deploy(anvil.url, 'WrappedNative');
  const read = async () => {
    const path = `/v1/evm/token-info/${wrapped.address}?chain_ids=31337`;
    const [token = {}] = await itemsIn(service, path, 'tokens');
    const { json } = await service.ask(`/v1/evm/balances/${bob}/token/${wrapped.address}?chain_ids=31337`);
    const [balance = {}] = json.balances as readonly Json[];
    return [token.total_supply, balance.amount ?? '0'];
  };
  // What is gone by the end of its block tells nothing of a deposit.
  await anvil.rpc('evm_setAutomine', false);
  const rest = { from: bob, to: wrapped.address, gas: '0x30d40' };
  await anvil.rpc('eth_sendTransaction', { ...rest, data: '0xd0e30db0', value: '0x5' });
  await anvil.rpc('eth_sendTransaction', { ...rest, data: `0x2e1a7d4d${'5'.padStart(64, '0')}` });
  await anvil.mine();
  await anvil.rpc('evm_setAutomine', true);
  await service.indexed(await anvil.head());
  await expect.poll(read).toEqual(['0', '0']);
  await anvil.rpc('anvil_reorg', 1, []);
  await anvil.mine();
  await service.indexed(await anvil.head());
  await expect.poll(read).toEqual(['0', '0']);
});

test('a contract that said nothing at first is what it says when it is asked again', async () => {
  await using node = await startFaultyNode(anvil.url);
  await using service = await open(node);
  const coin = await deploy(anvil.url, 'OldCoin', [true]);
  node.faults.call = (call, ask) => {
    const [{ to = null } = {}] = call.params as readonly { to?: Hex }[];
    return call.method === 'eth_call' && to === coin.address
      ? { error: { code: 3, message: 'execution reverted', data: '0x' } }
      : ask();
  };
  const asked = () => JSON.stringify(node.requests).split(coin.address.slice(2)).length;
  await coin.mine('mint', [bob, 9n]);
  await service.indexed(await anvil.head());
  await expect.poll(asked).toBeGreaterThan(3);
  node.faults.call = (_, ask) => ask();
  const expected = { coin: true, ids: [9n] };
  await expect.poll(() => compare(service, users, coin, expected).then(() => true, String)).toBe(true);
});

test('an NFT is one that has an owner, also where the last ones are gone, and until then lists say what is open', async () => {
  await using node = await startFaultyNode(anvil.url);
  const gone = [1n, 2n, 3n].map((id) => encodeData(ownerOf, [id]));
  node.faults.call = (call, ask) => {
    const [{ data = null } = {}] = call.params as readonly { data?: Hex }[];
    const isGone = call.method === 'eth_call' && gone.some((each) => each === data);
    return isGone ? { error: { code: 3, message: 'execution reverted', data: '0x' } } : ask();
  };
  const kitties = await deploy(anvil.url, 'OldNft', [false]);
  for (const id of [0n, 1n, 2n, 3n]) await kitties.mine('mint', [bob, id]);
  await using service = await open(node);
  await expect
    .poll(async () => {
      const { json } = await service.ask(`/v1/evm/collectibles/${bob}?filter_spam=false`);
      const found = (json.entries as readonly Json[]).some(
        (each) => each.contract_address === kitties.address,
      );
      if (!found) expect(json.warnings).toMatchObject([{ chain_id: 31_337 }]);
      return found;
    })
    .toBe(true);
});

test('deposits, ranges and odd coins are, with their deliveries, and a reorg takes back what was read', async () => {
  await using node = await startFaultyNode(anvil.url);
  await using receiver = await startReceiver();
  await using service = await open(node);
  for (const type of ['activities', 'balances'] as const) await service.subscribe(type, receiver.url, [bob]);
  silence(node);
  const wrapped = await deploy(anvil.url, 'WrappedNative');
  const coin = await deploy(anvil.url, 'OldCoin', [true]);
  const series = await deploy(anvil.url, 'Series', [[bob], 2n]);
  await wrapped.mine('deposit', [], { from: bob, value: 5n });
  await coin.mine('mint', [bob, 9n]);
  await coin.mine('mint', [bob, 9n]);
  await series.mine('transferFrom', [bob, alice, 1n], { from: bob });
  await expect.poll(async () => (await service.progress())[0]?.indexedTo).toBe(await anvil.head());
  const checkAll = async () => {
    await compare(service, users, wrapped, { coin: true });
    await compare(service, users, coin, { coin: true, ids: [9n] });
    await compare(service, users, series, { coin: false, ids: [0n, 1n] });
  };
  node.faults.call = (_, ask) => ask();
  await expect.poll(() => checkAll().then(() => true, String)).toBe(true);
  const told = (member: string) =>
    receiver.received.flatMap(({ body }) => (JSON.parse(body)[member] ?? []) as Json[]);
  const items = () => told('activities');
  const changesOf = (contract: Contract) =>
    told('balance_changes')
      .map(({ asset, ...amounts }) => ({ ...(asset as Json), ...amounts }))
      // At first, the coin's events look like those of NFTs.
      .filter(({ token_address, asset_type }) => token_address === contract.address && asset_type === 'erc20')
      .map(({ amount_before, amount_after }) => [amount_before, amount_after]);
  await expect.poll(() => changesOf(wrapped)).toEqual([['0', '5']]);
  await expect
    .poll(() => changesOf(coin))
    .toEqual([
      ['0', '9'],
      ['9', '18'],
    ]);
  await expect
    .poll(() => items().filter(({ to_token_address }) => to_token_address === wrapped.address))
    .toMatchObject([{ type: 'swap', from_token_value: '5', to_token_value: '5' }]);
  const snapshot = await anvil.head();
  await anvil.rpc('anvil_reorg', 2, []);
  await expect
    .poll(async () => (await service.ask(`/v1/evm/transactions/${bob}?limit=1`)).json.transactions)
    .not.toMatchObject([{ block_number: snapshot }]);
  await service.indexed(await anvil.head());
  await expect.poll(() => checkAll().then(() => true, String)).toBe(true);
});
