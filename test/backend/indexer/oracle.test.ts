import fc from 'fast-check';
import { encode } from 'ox/AbiParameters';
import { expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { runs } from '../../support/runs.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import {
  accountsOf,
  type Contract,
  deploy,
  deployLiar,
  SilentNodeError,
  sendTransaction,
} from './support/contracts.ts';
import {
  type Contracts,
  ITEM_IDS,
  minedOf,
  NFT_IDS,
  ODD_COINS,
  type Step,
  step,
  USERS,
} from './support/random-actions.ts';
import { openIndexed } from './support/service.ts';

/**
 * Random transactions on a real chain, with reorgs. What the service then says is compared with what the contracts say
 * themselves, and with lists that a scan of all blocks makes from the node's own answers.
 */

/** Transactions of one chain. */
const A_CHAIN = 500;

/** More than any of them needs, so that those that fail are mined as well. */
const GAS = 1_000_000n;

type RawLog = { readonly data: Hex; readonly topics: readonly Hex[] };
type RawBlock = {
  readonly hash: Hex;
  readonly transactions: readonly { readonly hash: Hex; readonly from: Hex; readonly to: Hex | null }[];
};
type RawReceipt = {
  readonly status: Hex;
  readonly contractAddress: Hex | null;
  readonly logs: readonly RawLog[];
};
type RawTrace = {
  readonly transactionHash: Hex;
  readonly action: { readonly from?: Hex; readonly to?: Hex; readonly value?: Hex };
  readonly result?: { readonly address?: Hex } | null;
};

/** The events that name accounts, by the places of these among the topics. */
const SIDES: Readonly<Record<Hex, readonly number[]>> = {
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef': [1, 2],
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62': [2, 3],
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb': [2, 3],
  // Deposit, Withdrawal, Approval and ApprovalForAll: who is paid, and who approves.
  '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c': [1],
  '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65': [1],
  '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925': [1],
  '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31': [1],
  // ConsecutiveTransfer.
  '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d': [2, 3],
};

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** The sides of a Transfer with nothing indexed. */
const sidesInData = ({ topics, data }: RawLog): readonly string[] =>
  topics.length === 1 && topics[0] === TRANSFER
    ? [`0x${data.slice(26, 66)}`, `0x${data.slice(90, 130)}`]
    : [];
const string = (text: string) => ({ returns: encode([{ type: 'string' }], [text]) });

/** What a coin says of itself that borrows the name of another. */
const SPOOF = {
  'name()': string('Other'),
  'symbol()': string('OTHER'),
  'decimals()': { returns: encode([{ type: 'uint256' }], [18n]) },
};

/** The data of a TransferBatch of nothing: two lists without items. */
const EMPTY_BATCH = `0x${[64n, 96n, 0n, 0n].map((word) => word.toString(16).padStart(64, '0')).join('')}`;

const lower = (text: Hex): string => text.toLowerCase();
const hexOf = (number: number): Hex => `0x${number.toString(16)}`;

/** Who takes part in a transaction that was not undone, by its receipt and its traces. */
const partiesOf = ({ contractAddress, logs }: RawReceipt, traces: readonly RawTrace[]): readonly string[] => [
  ...(contractAddress ? [lower(contractAddress)] : []),
  ...logs
    .filter(({ data }) => data !== EMPTY_BATCH)
    .filter(({ topics }) => topics.length > 1)
    .flatMap(({ topics }) =>
      (SIDES[topics[0] ?? '0x'] ?? []).map((place) => `0x${topics[place]?.slice(26)}`),
    ),
  ...logs.flatMap(sidesInData),
  ...traces
    .filter(({ action }) => BigInt(action.value ?? 0) > 0n)
    .flatMap(({ action, result }) => [action.from, action.to, result?.address].flatMap((side) => side ?? []))
    .map(lower),
];

/** The hashes of the transactions in which each account takes part, the oldest first, by a scan of all blocks. */
const scan = async (anvil: Anvil): Promise<ReadonlyMap<string, readonly string[]>> => {
  const lists = new Map<string, string[]>();
  const head = await anvil.head();
  for (let number = 0; number <= head; number++) {
    const [block, receipts, traces] = (await Promise.all([
      anvil.rpc('eth_getBlockByNumber', hexOf(number), true),
      anvil.rpc('eth_getBlockReceipts', hexOf(number)),
      anvil.rpc('trace_block', hexOf(number)),
    ])) as [RawBlock, readonly RawReceipt[], readonly RawTrace[]];
    for (const [index, { hash, from, to }] of block.transactions.entries()) {
      const receipt = receipts[index];
      const own = traces.filter(({ transactionHash }) => transactionHash === hash);
      const others = receipt?.status === '0x1' ? partiesOf(receipt, own) : [];
      for (const party of new Set([lower(from), ...(to === null ? [] : [lower(to)]), ...others]))
        lists.set(party, [...(lists.get(party) ?? []), hash]);
    }
  }
  return lists;
};

/** Pages of a list of the service, to its end. */
const createLister =
  (ask: (path: string) => Promise<{ status: number; json: Json }>) =>
  async (path: string, member: string): Promise<readonly Json[]> => {
    const items: Json[] = [];
    for (let offset = ''; ; ) {
      const { status, json } = await ask(`/v1/evm/${path}${offset}`);
      expect([status, json.errors]).toEqual([200, undefined]);
      items.push(...(json[member] as readonly Json[]));
      if (typeof json.next_offset !== 'string') return items;
      offset = `&offset=${json.next_offset}`;
    }
  };
type List = ReturnType<typeof createLister>;

const checkBalances = async (
  list: List,
  anvil: Anvil,
  account: Hex,
  coins: readonly Contract[],
  others: readonly Contract[],
) => {
  const balances = await list(`balances/${account}?limit=2`, 'balances');
  const amounts = new Map(balances.map(({ address, amount }) => [address, BigInt(String(amount))]));
  const native = String(await anvil.rpc('eth_getBalance', account, 'latest'));
  expect(amounts.get('native') ?? 0n).toBe(BigInt(native));
  for (const coin of coins)
    expect(amounts.get(coin.address) ?? 0n).toBe(await coin.read('balanceOf', account));
  for (const other of others) expect(amounts.has(other.address)).toBe(false);
};

/** The NFTs of each account, by what their contracts say of all ids. */
const readOwners = async ({ art, hybrid, kitties, series, punks }: Contracts) => {
  const owned = new Map<unknown, string[]>();
  const add = async (contract: Contract, count: bigint | number, method = 'ownerOf') => {
    for (let id = 0n; id < count; id++) {
      const owner = await contract.read(method, id).catch(() => null);
      owned.set(owner, [...(owned.get(owner) ?? []), `${contract.address} ${id} 1`]);
    }
  };
  await add(art, NFT_IDS);
  await add(hybrid, BigInt(String(await hybrid.read('minted'))) + 1n);
  await add(kitties, NFT_IDS);
  await add(series, BigInt(String(await series.read('next'))));
  await add(punks, NFT_IDS, 'punkIndexToAddress');
  return owned;
};

const checkCollectibles = async (
  list: List,
  account: Hex,
  items: Contract,
  owners: Awaited<ReturnType<typeof readOwners>>,
) => {
  const owned = [...(owners.get(account) ?? [])];
  for (let id = 0n; id < ITEM_IDS; id++) {
    const count = await items.read('balanceOf', account, id);
    if (count !== 0n) owned.push(`${items.address} ${id} ${count}`);
  }
  const found = await list(`collectibles/${account}?limit=3&filter_spam=false`, 'entries');
  const held = found.map(
    ({ contract_address, token_id, balance }) => `${contract_address} ${token_id} ${balance}`,
  );
  expect(held.toSorted()).toEqual(owned.toSorted());
};

const checkHolders = async (list: List, coin: Contract, accounts: readonly Hex[]) => {
  const having: string[] = [];
  for (const account of accounts) {
    const held = await coin.read('balanceOf', account);
    if (held !== 0n) having.push(`${account} ${held}`);
  }
  const holders = await list(`token-holders/31337/${coin.address}?limit=2`, 'holders');
  const said = holders.map(({ wallet_address, balance }) => `${lower(wallet_address as Hex)} ${balance}`);
  expect(said.toSorted()).toEqual(having.toSorted());
};

type Service = Awaited<ReturnType<typeof openIndexed>>;

const checkSupply = async ({ ask }: Service, coin: Contract) => {
  const { json } = await ask(`/v1/evm/token-info/${coin.address}?chain_ids=31337`);
  const [{ total_supply } = {}] = json.tokens as readonly Json[];
  expect(total_supply).toBe(String(await coin.read('totalSupply')));
};

/** What users have of coins without an event is known once the service has compared the coins with their events. */
const checkOddBalances = async (list: List, users: readonly Hex[], coins: readonly Contract[]) => {
  for (const account of users) {
    const said = await Promise.all(coins.map((coin) => coin.read('balanceOf', account)));
    const shown = async () => {
      const balances = await list(`balances/${account}?limit=3`, 'balances');
      const amounts = new Map(balances.map(({ address, amount }) => [address, BigInt(String(amount))]));
      return coins.map(({ address }) => amounts.get(address) ?? 0n);
    };
    await expect.poll(shown).toEqual(said);
  }
};

const checkOddHolders = async ({ ask }: Service, coin: Contract, accounts: readonly Hex[]) => {
  const path = `/v1/evm/token-holders/31337/${coin.address}`;
  // While its node is slow to answer, it says so by 503.
  await expect.poll(async () => (await ask(path)).status).toBe(200);
  const { json } = await ask(path);
  const holders = json.holders as readonly Json[];
  for (const { wallet_address, balance } of holders)
    expect(BigInt(String(balance))).toBe(await coin.read('balanceOf', wallet_address));
  const amounts = await Promise.all(accounts.map((account) => coin.read('balanceOf', account)));
  if (holders.length < amounts.filter((amount) => amount !== 0n).length)
    expect(json.warnings).toMatchObject([{ code: 'UNVERIFIED_HOLDERS' }]);
};

/** Sends the transactions to a chain of their own, and compares now and then. */
const compareAfter = async (steps: readonly Step[], nextDepth: () => number): Promise<void> => {
  // By default anvil has lost what some blocks made of the chain after a thousand blocks, and reorgs go back to them.
  await using anvil = await startAnvil({ args: ['--prune-history', '10000'] });
  const { url } = anvil;
  const users = (await accountsOf(url)).slice(0, USERS);
  const coin = await deploy(url, 'Coin', ['Coin', 'COIN', 6]);
  const contracts: Contracts = {
    coin,
    other: await deploy(url, 'Coin', ['Other', 'OTHER', 18]),
    wrapped: await deploy(url, 'WrappedNative'),
    art: await deploy(url, 'Art', ['Art', 'ART']),
    items: await deploy(url, 'Items', ['ipfs://none/{id}']),
    payer: await deploy(url, 'Payer'),
    creator: await deploy(url, 'Creator'),
    staked: await deploy(url, 'StakedCoin'),
    staking: await deploy(url, 'Staking', [coin.address]),
    multisig: await deploy(url, 'Multisig'),
    hybrid: await deploy(url, 'Hybrid', [true]),
    indexed: await deploy(url, 'OldCoin', [true]),
    plain: await deploy(url, 'OldCoin', [false]),
    kitties: await deploy(url, 'OldNft', [false]),
    series: await deploy(url, 'Series', [users.slice(0, 3), 2n]),
    punks: await deploy(url, 'Punks'),
    rebasing: await deploy(url, 'Rebasing', ['Rebasing']),
    fee: await deploy(url, 'Fee', ['Fee']),
    premint: await deploy(url, 'Premint', ['Premint', 1_000_000n]),
    spoof: await deployLiar(url, SPOOF),
  };
  // From here on, blocks of several transactions.
  await anvil.rpc('evm_setAutomine', false);
  await using service = await openIndexed({ chains: [{ id: 31_337, url, startBlock: null }] });
  const list = createLister(service.ask);
  const accounts = [...users, ...Object.values(contracts).map(({ address }) => address)];

  const check = async () => {
    await anvil.mine();
    await service.indexed(await anvil.head());
    const { other, wrapped, staked, hybrid, indexed, plain } = contracts;
    const { items, staking, multisig, kitties, series, punks } = contracts;
    const coins = [coin, other, wrapped, staked, hybrid, indexed, plain];
    const owners = await readOwners(contracts);
    for (const account of users) {
      await checkBalances(list, anvil, account, coins, [staking, multisig, kitties, series, punks]);
      await checkCollectibles(list, account, items, owners);
    }
    for (const each of coins) {
      const supply = await each.read('totalSupply');
      const info =
        supply === 0n ? null : await service.ask(`/v1/evm/token-info/${each.address}?chain_ids=31337`);
      if (info !== null) expect(info.json.tokens).toMatchObject([{ total_supply: String(supply) }]);
      if (supply !== 0n) await checkHolders(list, each, accounts);
    }
    const odd = ODD_COINS.map((name) => contracts[name]);
    await checkOddBalances(list, users, odd);
    for (const each of odd) await checkOddHolders(service, each, accounts);
    for (const each of [...coins, ...odd]) await checkSupply(service, each);
    const scanned = await scan(anvil);
    for (const account of accounts) {
      const found = await list(`transactions/${account}?limit=17`, 'transactions');
      expect(found.map(({ hash }) => hash)).toEqual((scanned.get(account) ?? []).toReversed());
    }
  };

  for (const [at, { from, action, endsBlock }] of steps.entries()) {
    const { to, data, value } = minedOf(action, contracts, users);
    const sender = users[from];
    await sendTransaction(url, to, data, {
      gas: GAS,
      ...(sender && { from: sender }),
      ...(value && { value }),
    });
    if (endsBlock) await anvil.mine();
    if (at % 150 === 149) await anvil.rpc('anvil_reorg', nextDepth(), []);
  }
  await check();
};

test('after random transactions and reorgs every balance, owner and list is what the chain itself says', {
  timeout: 3_600_000,
}, async () => {
  const steps = fc.sample(step, runs(5_000, 300));
  let reorgs = 0;
  const nextDepth = () => 1 + ((7 * reorgs++) % 30);
  for (let at = 0, silences = 0; at < steps.length; ) {
    try {
      await compareAfter(steps.slice(at, at + A_CHAIN), nextDepth);
      at += A_CHAIN;
    } catch (error) {
      // The node's own fault, and no chain is left to compare with: these steps are made again on another one.
      if (!(error instanceof SilentNodeError) || ++silences > steps.length / 100) throw error;
    }
  }
  expect(reorgs).toBeGreaterThan(0);
});
