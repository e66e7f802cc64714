import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { startReceiver } from '../dispatch/support/receiver.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy, receiptOf, sendTransaction } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { openIndexed } from './support/service.ts';

/**
 * Contracts whose logs can be read in several ways. What the service says of them is what they answer themselves: while they
 * are followed, and to an index that meets them later.
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

type Service = Awaited<ReturnType<typeof openIndexed>>;

const open = async (node: { readonly url: string } = anvil) => {
  const service = await openIndexed({ chains: [{ id: 31_337, url: node.url, startBlock: null }] });
  await service.indexed(await anvil.head());
  return service;
};

const itemsIn = async (service: Service, path: string, member: string): Promise<readonly Json[]> => {
  const { status, json } = await service.ask(path);
  expect([status, path]).toEqual([200, path]);
  return json[member] as readonly Json[];
};

/** What an account has of a contract: an amount, and ids of NFTs. */
const heldBy = async (service: Service, account: Hex, { address }: Contract) => {
  const balances = await itemsIn(service, `/v1/evm/balances/${account}`, 'balances');
  const entries = await itemsIn(service, `/v1/evm/collectibles/${account}?filter_spam=false`, 'entries');
  const amount = balances.find((each) => each.address === address)?.amount ?? '0';
  const nfts = entries.filter((each) => each.contract_address === address);
  for (const { balance, token_standard } of nfts) expect([balance, token_standard]).toEqual(['1', 'ERC721']);
  return { amount: BigInt(String(amount)), ids: nfts.map(({ token_id }) => BigInt(String(token_id))) };
};

/** What each user has by the service is what the contract answers, and who holds the ids. */
const compare = async (
  service: Service,
  contract: Contract,
  { coin, owner, ids = [] }: { coin: boolean; owner?: string; ids?: readonly bigint[] },
): Promise<void> => {
  for (const user of users) {
    const owned: bigint[] = [];
    for (const id of ids)
      if ((await contract.read(owner ?? 'ownerOf', id).catch(() => null)) === user) owned.push(id);
    const held = await heldBy(service, user, contract);
    expect(held.amount).toBe(coin ? await contract.read('balanceOf', user) : 0n);
    expect(held.ids.toSorted()).toEqual(owned.toSorted());
  }
  if (!coin) return;
  const info = await itemsIn(service, `/v1/evm/token-info/${contract.address}?chain_ids=31337`, 'tokens');
  expect(info).toMatchObject([{ total_supply: String(await contract.read('totalSupply')) }]);
  const holders = await itemsIn(service, `/v1/evm/token-holders/31337/${contract.address}`, 'holders');
  let held = 0n;
  for (const { wallet_address, balance } of holders) {
    expect(balance).toBe(String(await contract.read('balanceOf', wallet_address)));
    held += BigInt(String(balance));
  }
  expect(held).toBe(await contract.read('totalSupply'));
};

type Expected = Parameters<typeof compare>[2];

/** Compares while the contract is followed, and again with an index of the whole chain. */
const compareTwice = async (
  contract: Contract,
  expected: Expected,
  act: () => Promise<unknown>,
): Promise<void> => {
  await using followed = await open();
  await act();
  await followed.indexed(await anvil.head());
  await compare(followed, contract, expected);
  await using late = await open();
  await expect.poll(() => compare(late, contract, expected).then(() => true, String)).toBe(true);
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
    await compare(service, coin, { coin: true });
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
    await compare(service, multisig, { coin: false });
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

describe('what a node does not say yet is read once it does', () => {
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
    const asked = () => node.requests.flat().filter(({ method }) => method === 'eth_getBalance').length;
    const before = asked();
    node.faults.call = (_, ask) => ask();
    await expect.poll(asked).toBeGreaterThanOrEqual(before + 4);
    await wrapped.mine('deposit', [], { from: bob, value: 7n });
    await service.indexed(await anvil.head());
    await expect.poll(() => compare(service, wrapped, { coin: true }).then(() => true, String)).toBe(true);
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
    await expect.poll(() => compare(service, wrapped, { coin: true }).then(() => true, String)).toBe(true);
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
    await expect.poll(() => compare(service, wrapped, { coin: true }).then(() => true, String)).toBe(true);
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
    for (const type of ['activities', 'balances'] as const)
      await service.subscribe(type, receiver.url, [bob]);
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
      await compare(service, wrapped, { coin: true });
      await compare(service, coin, { coin: true, ids: [9n] });
      await compare(service, series, { coin: false, ids: [0n, 1n] });
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
        .filter(
          ({ token_address, asset_type }) => token_address === contract.address && asset_type === 'erc20',
        )
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
});
