import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { startReceiver } from '../dispatch/support/receiver.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { compare, itemsIn } from './support/held.ts';
import { openIndexed } from './support/service.ts';

/**
 * Contracts whose logs can be read in several ways. What the service says of them is what they answer themselves: while they
 * are followed, and to an index that meets them later.
 */

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

type Service = Awaited<ReturnType<typeof openIndexed>>;

const open = async () => {
  const service = await openIndexed({ chains: [{ id: 31_337, url: anvil.url, startBlock: null }] });
  await service.indexed(await anvil.head());
  return service;
};

/** Compares while the contract is followed, and again with an index of the whole chain. */
const compareTwice = async (
  contract: Contract,
  expected: Parameters<typeof compare>[3],
  act: () => Promise<unknown>,
): Promise<void> => {
  await using followed = await open();
  await act();
  await followed.indexed(await anvil.head());
  await compare(followed, users, contract, expected);
  await using late = await open();
  await expect.poll(() => compare(late, users, contract, expected).then(() => true, String)).toBe(true);
};

const found = async (service: Service, symbol: string): Promise<boolean> => {
  const { json } = await service.ask(`/v1/evm/search/tokens?query=${symbol}`);
  return String(json.text).includes(symbol);
};

describe('only wrapped native currency is minted by deposits', () => {
  test('WETH is, also where all of it was withdrawn again', async () => {
    const wrapped = await deploy(anvil.url, 'WrappedNative');
    await compareTwice(wrapped, { coin: true }, async () => {
      await wrapped.mine('deposit', [], { value: 7n });
      await wrapped.mine('transfer', [bob, 3n]);
      await wrapped.mine('withdraw', [1n]);
      await wrapped.mine('withdraw', [3n], { from: bob });
    });
  });

  test('staking is not: no balance, no activity but the transfer, no swap', async () => {
    const coin = await deploy(anvil.url, 'Coin', ['Polish', 'PLN', 18]);
    const staking = await deploy(anvil.url, 'Staking', [coin.address]);
    await coin.mine('mint', [alice, 1_000n]);
    await coin.mine('approve', [staking.address, 1_000n]);
    await compareTwice(staking, { coin: false }, async () => {
      await staking.mine('deposit', [100n]);
      await staking.mine('withdraw', [40n]);
    });
    await using service = await open();
    const activity = await itemsIn(service, `/v1/evm/activity/${alice}?limit=2`, 'activity');
    expect(activity).toMatchObject([
      { type: 'receive', token_address: coin.address, value: '40' },
      { type: 'send', token_address: coin.address, value: '100' },
    ]);
    await compare(service, users, coin, { coin: true });
  });

  test('a coin that logs Transfer and Deposit has what its transfers say', async () => {
    const coin = await deploy(anvil.url, 'StakedCoin');
    await compareTwice(coin, { coin: true }, async () => {
      await coin.mine('mint', [alice, 1_000n]);
      await coin.mine('stake', [100n]);
      await coin.mine('unstake', [30n]);
      await coin.mine('transfer', [bob, 5n]);
    });
  });

  test('a multisig is paid and mints nothing, in lists and in deliveries', async () => {
    const multisig = await deploy(anvil.url, 'Multisig');
    await using receiver = await startReceiver();
    await using service = await open();
    for (const type of ['activities', 'balances'] as const)
      await service.subscribe(type, `${receiver.url}/${type}`, [bob]);
    const pay = (to: Hex, value: bigint) =>
      sendTransaction(anvil.url, to, '0x', { from: bob, value }).then((hash) => receiptOf(anvil.url, hash));
    await pay(multisig.address, 5n);
    await pay(alice, 6n);
    const items = (path: string, member: string) =>
      receiver.received
        .filter((each) => each.path === `/${path}`)
        .flatMap(({ body }) => JSON.parse(body)[member] as Json[]);
    await expect.poll(() => items('activities', 'activities')).toHaveLength(2);
    expect(items('activities', 'activities')).toMatchObject([
      { type: 'send', value: '5', asset_type: 'native' },
      { type: 'send', value: '6', asset_type: 'native' },
    ]);
    await expect.poll(() => items('balances', 'balance_changes')).toHaveLength(2);
    await compare(service, users, multisig, { coin: false });
  });
});

describe('a contract is what it answers', () => {
  test.each([true, false])('coin and NFTs at once, the NFTs logged first: %s', async (nftsFirst) => {
    const hybrid = await deploy(anvil.url, 'Hybrid', [nftsFirst]);
    const ids = [1n, 2n, 3n, 4n];
    await compareTwice(hybrid, { coin: true, ids }, async () => {
      for (const to of [alice, alice, bob, alice]) await hybrid.mine('mint', [to]);
      await hybrid.mine('transferOne', [bob]);
      await hybrid.mine('burnOne', [], { from: bob });
    });
    await using service = await open();
    await expect.poll(() => found(service, 'HYB')).toBe(true);
    const balances = await itemsIn(service, `/v1/evm/balances/${alice}`, 'balances');
    expect(balances.find(({ address }) => address === hybrid.address)).toMatchObject({
      amount: '2000000000000000000',
      symbol: 'HYB',
      decimals: 18,
    });
    const activity = await itemsIn(service, `/v1/evm/activity/${alice}?limit=2`, 'activity');
    const decimals = Object.fromEntries(
      activity.map(({ asset_type, token_metadata }) => [asset_type, (token_metadata as Json).decimals]),
    );
    expect(decimals).toEqual({ erc20: 18, erc721: 0 });
  });

  test.each([true, false])('a coin whose value is indexed, or none of its event: %s', async (indexesAll) => {
    const coin = await deploy(anvil.url, 'OldCoin', [indexesAll]);
    const value = 5n * 10n ** 18n;
    await compareTwice(coin, { coin: true, ids: [value] }, async () => {
      await coin.mine('mint', [alice, value]);
      await coin.mine('mint', [alice, value]);
      await coin.mine('transfer', [bob, 3n]);
    });
  });

  test.each([
    ['Coin', ['Coin', 'COIN', 18]],
    ['OldCoin', [true]],
    ['OldCoin', [false]],
    ['Hybrid', [true]],
  ] as const)('a coin that is asked for before it has logged anything: %s %j', async (name, args) => {
    const coin = await deploy(anvil.url, name, args);
    await using service = await open();
    const info = `/v1/evm/token-info/${coin.address}?chain_ids=31337`;
    expect(await itemsIn(service, info, 'tokens')).toMatchObject([{ total_supply: '0' }]);
    if (name === 'Hybrid') await coin.mine('mint', [alice]);
    else await coin.mine('mint', [alice, 5n]);
    await service.indexed(await anvil.head());
    const ids = name === 'Hybrid' ? [1n] : [5n];
    await expect
      .poll(() => compare(service, users, coin, { coin: true, ids }).then(() => true, String))
      .toBe(true);
  });

  test.each([
    ['OldNft', [false], 'mint', 'ownerOf'],
    ['Punks', [], 'getPunk', 'punkIndexToAddress'],
  ] as const)(
    'NFTs that are asked for as a coin before they have logged anything: %s',
    async (name, args, mint, owner) => {
      const nfts = await deploy(anvil.url, name, args);
      await using service = await open();
      await service.ask(`/v1/evm/token-info/${nfts.address}?chain_ids=31337`);
      await nfts.mine(mint, name === 'Punks' ? [7n] : [alice, 7n]);
      await service.indexed(await anvil.head());
      const expected = { coin: false, owner, ids: [7n] };
      await expect.poll(() => compare(service, users, nfts, expected).then(() => true, String)).toBe(true);
    },
  );

  test.each([true, false])('NFTs whose ids are not indexed, but the sides: %s', async (indexesSides) => {
    const kitties = await deploy(anvil.url, 'OldNft', [indexesSides]);
    await compareTwice(kitties, { coin: false, ids: [1n, 2n, 77n] }, async () => {
      for (const id of [1n, 2n, 77n]) await kitties.mine('mint', [alice, id]);
      await kitties.mine('transfer', [bob, 77n]);
      await kitties.mine('transfer', [bob, 2n]);
      await kitties.mine('transfer', [alice, 77n], { from: bob });
    });
  });

  test('NFTs that are minted in ranges, and moved later', async () => {
    await using receiver = await startReceiver();
    await using service = await open();
    await service.subscribe('activities', receiver.url, [bob]);
    const series = await deploy(anvil.url, 'Series', [[alice, bob], 4n]);
    const ids = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n];
    await compareTwice(series, { coin: false, ids }, async () => {
      await series.mine('transferFrom', [alice, bob, 2n]);
      await series.mine('mint', [alice]);
      await series.mine('transferFrom', [bob, alice, 5n], { from: bob });
      await series.mine('burn', [3n]);
    });
    const items = () => receiver.received.flatMap(({ body }) => JSON.parse(body).activities as Json[]);
    const minted = () =>
      items().filter(({ type, token_address }) => type === 'mint' && token_address === series.address);
    await expect.poll(() => minted().map(({ id }) => id)).toEqual(['4', '5', '6', '7']);
  });

  test('NFTs whose mints are logged and not made are at their owners alone', async () => {
    const forged = await deploy(anvil.url, 'Forged');
    await compareTwice(forged, { coin: false, ids: [1n, 2n, 3n] }, async () => {
      for (const id of [1n, 2n]) await forged.mine('mint', [alice, id]);
      for (const to of [alice, bob]) for (const id of [1n, 2n, 3n]) await forged.mine('pretend', [to, id]);
      await forged.mine('transferFrom', [alice, bob, 2n]);
    });
  });

  test('CryptoPunks, also where their event does not name the buyer', async () => {
    const punks = await deploy(anvil.url, 'Punks');
    const ids = [1n, 42n, 9_999n];
    await compareTwice(punks, { coin: false, owner: 'punkIndexToAddress', ids }, async () => {
      for (const id of ids) await punks.mine('getPunk', [id]);
      await punks.mine('transferPunk', [bob, 42n]);
      await punks.mine('buyPunk', [1n], { from: bob, value: 9n });
      await punks.mine('enterBidForPunk', [9_999n], { from: bob, value: 3n });
      await punks.mine('acceptBidForPunk', [9_999n]);
    });
  });
});
