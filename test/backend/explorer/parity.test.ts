import process from 'node:process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { namehash, reverseNode } from '../../../src/backend/evm/ens.ts';
import type { Hex } from '../../../src/backend/types.ts';
import type { Contents } from '../../support/blockscout/contents.ts';
import { contentsOfNode } from '../../support/blockscout/from-node.ts';
import { isFull } from '../../support/runs.ts';
import { type Anvil, startAnvil } from '../indexer/support/anvil.ts';
import {
  abiOf,
  accountsOf,
  type Contract,
  type ContractName,
  deploy,
  type Sending,
  sendTransaction,
} from '../indexer/support/contracts.ts';
import { type Contracts, minedOf, type Step, step, USERS } from '../indexer/support/random-actions.ts';
import { openIndexed } from '../indexer/support/service.ts';
import type { Json } from '../support/sandbox.ts';
import { openExplored } from './support/exploring.ts';
import {
  compareActivity,
  compareBalances,
  compareCollectibles,
  compareFiltered,
  compareHolders,
  compareTransactions,
  filtered,
  unusedDifferences,
} from './support/parity.ts';

/**
 * The same wallets through an index of a node, and through explorers of the same blocks. They may differ where what explorers list
 * differs, which support/parity.ts names.
 */

const CHAIN = 31_337;
/** More than any transaction needs, so that those that fail are mined as well. */
const GAS = 3_000_000n;
const CHAINS = isFull ? 15 : 1;
/** The accounts of each chain beside its contracts, and random transactions. */
const [ACCOUNTS, STEPS] = isFull ? [60, 300] : [USERS + 1, 40];

/**
 * Those whose logs say what they do. Of the others, explorers and the index know different things: wrapped currency that logs no
 * transfers, coins that log too little or what is not so, NFTs of before the standard or minted in ranges, and contracts that are
 * both coins and NFTs.
 */
const deployAll = async (url: string) => {
  const coin = await deploy(url, 'Coin', ['Coin', 'COIN', 6]);
  const other = await deploy(url, 'Coin', ['Other', 'OTHER', 18]);
  return {
    ...{ coin, other },
    art: await deploy(url, 'Art', ['Art', 'ART']),
    items: await deploy(url, 'Items', ['ipfs://none/{id}']),
    payer: await deploy(url, 'Payer'),
    creator: await deploy(url, 'Creator'),
    staked: await deploy(url, 'StakedCoin'),
    staking: await deploy(url, 'Staking', [coin.address]),
    multisig: await deploy(url, 'Multisig'),
    account: await deploy(url, 'Account'),
    pool: await deploy(url, 'Pool', [coin.address, other.address]),
  } satisfies Partial<Contracts> & { readonly pool: Contract };
};

/** Gives accounts their primary names, in a registry of their own. */
const nameAll = async (url: string, names: ReadonlyMap<Hex, string>): Promise<Hex> => {
  const registry = await deploy(url, 'NameRegistry');
  const resolver = await deploy(url, 'NameResolver');
  for (const [account, name] of names) {
    const reverse = reverseNode(account);
    for (const node of [reverse, namehash(name)])
      await registry.mine('setResolver', [node, resolver.address]);
    await resolver.mine('setName', [reverse, name]);
    await resolver.mine('setAddr', [namehash(name), account]);
  }
  return registry.address;
};

type Deployed = Awaited<ReturnType<typeof deployAll>>;

const isOf = (contracts: Deployed, { action: { name, args } }: Step): boolean =>
  (name === null || name in contracts) && !JSON.stringify(args, bigintText).includes('"wrapped"');

const bigintText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

/** One of each kind that random transactions may not have. */
const sendKnown = async (anvil: Anvil, contracts: Deployed, users: readonly Hex[]): Promise<void> => {
  const [alice = '0x', bob = '0x', carol = '0x'] = users;
  const { coin, other, art, items, payer, staking, account, pool } = contracts;
  const send = async (contract: Contract, method: string, args: readonly unknown[], options: Sending = {}) =>
    void (await contract.send(method, args, { from: alice, gas: GAS, ...options }));
  for (const each of [coin, other])
    for (const to of [alice, bob, pool.address]) await send(each, 'mint', [to, 1_000n]);
  // Explorers know a token once it has moved.
  await send(contracts.staked, 'mint', [alice, 1n]);
  // Equal holders, who never give away anything.
  for (const { address } of [contracts.multisig, contracts.creator])
    await send(other, 'mint', [address, 77n]);
  await send(items, 'mintBatch', [alice, [1n, 1n, 2n], [5n, 6n, 7n]]);
  await send(items, 'safeBatchTransferFrom', [alice, bob, [1n, 2n], [3n, 4n], '0x']);
  await send(art, 'mint', [alice, 100n, '']);
  await send(art, 'mint', [bob, 101n, '']);
  await send(art, 'transferFrom', [alice, alice, 100n]);
  await send(coin, 'transfer', [alice, 5n]);
  await anvil.mine();
  await send(coin, 'approve', [pool.address, 500n]);
  await send(other, 'approve', [bob, 500n]);
  await send(art, 'approve', [bob, 100n]);
  await send(art, 'setApprovalForAll', [bob, true]);
  await send(pool, 'swap', [coin.address, 100n]);
  await send(coin, 'approve', [staking.address, 50n]);
  await send(staking, 'deposit', [50n]);
  await anvil.mine();
  await send(payer, 'split', [[bob, carol]], { value: 900n });
  await sendTransaction(anvil.url, account.address, '0x', { from: alice, value: 60n, gas: GAS });
  await send(account, 'execute', [carol, 5n, '0x']);
  // What comes to a wallet by others' transactions, among its own in one block.
  await send(coin, 'transfer', [carol, 1n]);
  await send(coin, 'mint', [bob, 1n], { from: carol });
  await send(other, 'transfer', [carol, 2n]);
  await send(coin, 'transfer', [carol, 10n ** 30n]);
  await anvil.mine();
};

const mineAll = async (anvil: Anvil, accounts: readonly Hex[], steps: readonly Step[]) => {
  const contracts = await deployAll(anvil.url);
  await anvil.rpc('evm_setAutomine', false);
  await sendKnown(anvil, contracts, accounts);
  for (const [at, { from, action, endsBlock }] of steps.filter((each) => isOf(contracts, each)).entries()) {
    // Other users each time, so that all accounts take part.
    const users = Array.from(
      { length: USERS },
      (_, each) => accounts[(each + 7 * at) % accounts.length] ?? '0x',
    );
    const { to, data, value } = minedOf(action, contracts, users);
    const sender = users[from] ?? '0x';
    await sendTransaction(anvil.url, to, data, { gas: GAS, from: sender, ...(value && { value }) });
    if (endsBlock) await anvil.mine();
  }
  await anvil.mine();
  return contracts;
};

type Ask = (path: string) => Promise<{ readonly status: number; readonly json: Json }>;

/** Each page of another size. */
const walker = (ask: Ask, sizes: Iterator<number>) => async (path: string, member: string) => {
  const rows: Json[] = [];
  for (let offset = ''; ; ) {
    const { status, json } = await ask(`${path}&limit=${sizes.next().value}${offset}`);
    expect([path, status, json.warnings ?? null, json.errors ?? null]).toEqual([path, 200, null, null]);
    rows.push(...(json[member] as readonly Json[]));
    if (json.next_offset === undefined) return rows;
    offset = `&offset=${json.next_offset}`;
  }
};

type Walk = ReturnType<typeof walker>;

const SIZES = [1, 2, 3, 7, 12, 40];

/** Random sizes, the same ones for one seed. */
function* sizesOf(seed: number): Generator<number> {
  for (let state = 1 + (seed % 1_000_000); ; state = (state * 48_271) % 2_147_483_647)
    yield SIZES[state % SIZES.length] ?? 1;
}

/** By members of rows. `type` is `activity_type` in requests. */
type Filter = Readonly<Record<string, string>>;

const filtersOf = ({ coin, art }: Deployed): readonly Filter[] => [
  { type: 'send', asset_type: 'erc721' },
  { type: 'receive', asset_type: 'erc1155' },
  { type: 'mint', asset_type: 'erc721', token_address: art.address },
  { type: 'mint' },
  { asset_type: 'erc20' },
  { token_address: coin.address },
  { type: 'call' },
  { type: 'approve' },
];

type Both = { readonly ours: Walk; readonly theirs: Walk; readonly asks: readonly Ask[] };

const withoutDetails = ({ logs: _, block_hash: __, ...row }: Json): Json => row;

const compareWallet = async (wallet: Hex, contracts: Deployed, { ours, theirs, asks }: Both) => {
  const both = async (path: string, member: string) =>
    [await ours(path, member), await theirs(path, member)] as const;
  const transactions = await both(`transactions/${wallet}?decode=true`, 'transactions');
  compareTransactions(wallet, ...transactions);
  const bare = `transactions/${wallet}?decode=true&logs=false&block_hash=false`;
  expect(await theirs(bare, 'transactions')).toEqual(transactions[1].map(withoutDetails));
  const [name, named] = await Promise.all(
    asks.map(async (ask) => (await ask(`name/${wallet}?chain_ids=${CHAIN}`)).json),
  );
  expect(named).toEqual(name);
  const [known, activity] = await both(`activity/${wallet}?`, 'activity');
  compareActivity(known, activity);
  for (const filter of filtersOf(contracts)) {
    const query = new URLSearchParams(
      Object.entries(filter).map(([name, value]) => [name === 'type' ? 'activity_type' : name, value]),
    );
    compareFiltered(filtered(activity, filter), await theirs(`activity/${wallet}?${query}`, 'activity'));
  }
  const held = await both(`balances/${wallet}?`, 'balances');
  const isInAny = transactions[0].length > 0 || known.length > 0;
  compareBalances(...held, isInAny);
  for (const asset of ['native', contracts.coin.address]) {
    const path = `balances/${wallet}/token/${asset}?chain_ids=${CHAIN}`;
    for (const [at, ask] of asks.entries())
      expect((await ask(path)).json.balances).toEqual(held[at]?.filter(({ address }) => address === asset));
  }
  compareCollectibles(...(await both(`collectibles/${wallet}?`, 'entries')));
};

const compareTokens = async (contracts: readonly Contract[], { ours, theirs, asks }: Both) => {
  const bothSay = async (path: string, textOf: (said: Awaited<ReturnType<Ask>>) => unknown) => {
    const [known, said] = await Promise.all(asks.map(async (ask) => textOf(await ask(path))));
    expect([path, said]).toEqual([path, known]);
    return known;
  };
  for (const { address } of contracts) {
    await bothSay(`token-info/${address}?chain_ids=${CHAIN}`, ({ status, json }) => [
      status,
      status === 200 ? json : null,
    ]);
    const holders = `token-holders/${CHAIN}/${address}`;
    if ((await bothSay(holders, ({ status }) => status)) === 200)
      compareHolders(await ours(`${holders}?`, 'holders'), await theirs(`${holders}?`, 'holders'));
  }
  // One client of the tests reads lists, and the other one keeps their text.
  for (const text of ['coin', 'other', 'staked', 'nothing of it'])
    await bothSay(`search/tokens?query=${text}&limit=50`, ({ json }) => json.text ?? JSON.stringify(json));
};

const compareAll = async (seed: number): Promise<number> => {
  await using anvil = await startAnvil({ args: ['--accounts', String(ACCOUNTS)] });
  const accounts = await accountsOf(anvil.url);
  const names = new Map([[accounts[1] ?? '0x', 'alice.eth'] as const]);
  const ensRegistry = await nameAll(anvil.url, names);
  // The last one is in no transaction.
  const contracts = await mineAll(anvil, accounts.slice(0, -1), fc.sample(step, { seed, numRuns: STEPS }));
  const verified = async (contract: Contract, name: ContractName) =>
    [contract.address, { name, abi: await abiOf(name) }] as const;
  const known = new Map([await verified(contracts.coin, 'Coin'), await verified(contracts.art, 'Art')]);
  const contents: Contents = await contentsOfNode({
    ...{ chainId: CHAIN, call: anvil.rpc, verified: known, names },
  })();
  await using index = await openIndexed({
    chains: [{ id: CHAIN, url: anvil.url, startBlock: null, ensRegistry }],
  });
  await index.traced(await anvil.head());
  for (const [account, name] of names)
    expect((await index.ask(`/v1/evm/name/${account}?chain_ids=${CHAIN}`)).json).toMatchObject({ name });
  const wallets = [...accounts, ...Object.values(contracts).map(({ address }) => address)];
  const compared = isFull
    ? wallets
    : [...accounts.slice(0, 3), ...accounts.slice(-1), contracts.account.address, contracts.pool.address];
  for (const version of ['11.2.7', '12.0.2']) {
    await using explored = await openExplored([{ id: CHAIN, contents, version }]);
    const askIndex = (path: string) => index.ask(`/v1/evm/${path}`);
    const asks = [askIndex, explored.ask];
    const [ours, theirs] = [walker(askIndex, sizesOf(seed)), walker(explored.ask, sizesOf(seed + 1))];
    const both = { ours, theirs, asks };
    // Without all runs, each wallet is asked for in one of the versions.
    for (const [at, wallet] of compared.entries())
      if (isFull || at % 2 === Number(version.startsWith('12'))) await compareWallet(wallet, contracts, both);
    await compareTokens(Object.values(contracts), both);
  }
  return compared.length;
};

test('a wallet is the same through an index and through an explorer, but for what explorers do not list', {
  timeout: 3_600_000,
}, async () => {
  const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
  let wallets = 0;
  for (let at = 0; at < CHAINS; at += 1) wallets += await compareAll(seed + 1_000_003 * at);
  if (process.env.FC_RUNS) process.stdout.write(`seed ${seed}, ${wallets} wallets\n`);
  expect(unusedDifferences()).toEqual([]);
});
