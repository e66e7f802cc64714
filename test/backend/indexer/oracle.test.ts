import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import fc from 'fast-check';
import { encode } from 'ox/AbiParameters';
import { fromNumber } from 'ox/Hex';
import { expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { freePort } from '../../support/free-port.ts';
import { runs } from '../../support/runs.ts';
import type { Json } from '../support/sandbox.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { scan } from './support/chain-scan.ts';
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
import { spawnIndexed } from './support/service.ts';

/**
 * Random transactions on a real chain, with reorgs, snapshots that are reverted to, and kills of the service. What the service
 * then says is compared with what the contracts say themselves, and with lists that a scan of all blocks makes from the node's own
 * answers.
 */

/** Transactions of one chain. */
const A_CHAIN = 500;

/** What happens before which of each hundred transactions, beside these. */
const SNAPSHOT = 20;
const REVERT = 45;
const REORG = 70;
const KILL = 85;

/** More than any of them needs, so that those that fail are mined as well. */
const GAS = 1_000_000n;

const string = (text: string) => ({ returns: encode([{ type: 'string' }], [text]) });

/** What a coin says of itself that borrows the name of another. */
const SPOOF = {
  'name()': string('Other'),
  'symbol()': string('OTHER'),
  'decimals()': { returns: encode([{ type: 'uint256' }], [18n]) },
};

const lower = (text: Hex): string => text.toLowerCase();

/** An answer of which nothing is still to come: while its node has not said enough, the service says so. */
const settled = async (ask: () => Promise<{ status: number; json: Json }>): Promise<Json> => {
  let answer = await ask();
  const isOpen = (): boolean =>
    answer.status !== 200 ||
    answer.json.errors !== undefined ||
    /CHAIN_UNAVAILABLE|UNVERIFIED_HOLDERS/.test(JSON.stringify(answer.json.warnings ?? []));
  await expect
    .poll(async () => {
      if (isOpen()) answer = await ask();
      return isOpen() ? answer : null;
    })
    .toBeNull();
  return answer.json;
};

/** Pages of a list of the service, to its end. */
const createLister =
  (ask: (path: string) => Promise<{ status: number; json: Json }>) =>
  async (path: string, member: string): Promise<readonly Json[]> => {
    const items: Json[] = [];
    for (let offset = ''; ; ) {
      const json = await settled(() => ask(`/v1/evm/${path}${offset}`));
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
    expect([coin.address, amounts.get(coin.address) ?? 0n]).toEqual([
      coin.address,
      await coin.read('balanceOf', account),
    ]);
  for (const other of others) expect(amounts.has(other.address)).toBe(false);
};

/** The NFTs of each account, by what their contracts say of all ids. */
const readOwners = async ({ art, hybrid, coinFirst, kitties, series, punks, forged }: Contracts) => {
  const owned = new Map<unknown, string[]>();
  const add = async (contract: Contract, count: bigint | number, method = 'ownerOf') => {
    for (let id = 0n; id < count; id++) {
      const owner = await contract.read(method, id).catch(() => null);
      owned.set(owner, [...(owned.get(owner) ?? []), `${contract.address} ${id} 1`]);
    }
  };
  await add(art, NFT_IDS);
  await add(forged, NFT_IDS);
  for (const each of [hybrid, coinFirst]) await add(each, BigInt(String(await each.read('minted'))) + 1n);
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

type Service = Pick<Awaited<ReturnType<typeof spawnIndexed>>, 'ask'>;

/** What an account has of the native asset is what it had at first, and what its activity adds, less what it paid for gas. */
const checkActivity = async (list: List, anvil: Anvil, account: Hex, fees: bigint) => {
  const balanceAt = async (block: string) =>
    BigInt(String(await anvil.rpc('eth_getBalance', account, block)));
  const items = await list(`activity/${account}?limit=50`, 'activity');
  const changes = items.map((item) => {
    const value = BigInt(String(item.value ?? 0));
    if (item.type === 'swap') {
      const sold = item.from_token_address === 'native' ? BigInt(String(item.from_token_value)) : 0n;
      return item.to_token_address === 'native' ? BigInt(String(item.to_token_value)) : -sold;
    }
    if (item.asset_type !== 'native') return 0n;
    return item.type === 'receive' || item.type === 'mint' ? value : -value;
  });
  const sum = changes.reduce((total, change) => total + change, await balanceAt('0x0'));
  expect([account, sum - fees]).toEqual([account, await balanceAt('latest')]);
};

const checkSupply = async ({ ask }: Service, coin: Contract) => {
  const { tokens } = await settled(() => ask(`/v1/evm/token-info/${coin.address}?chain_ids=31337`));
  const [{ total_supply } = {}] = tokens as readonly Json[];
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

type Figures = Record<'reorgs' | 'reverts' | 'kills' | 'comparisons', number>;

/** Sends the transactions to a chain of their own, and compares now and then. */
const compareAfter = async (steps: readonly Step[], figures: Figures): Promise<void> => {
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
    account: await deploy(url, 'Account'),
    hybrid: await deploy(url, 'Hybrid', [true]),
    coinFirst: await deploy(url, 'Hybrid', [false]),
    indexed: await deploy(url, 'OldCoin', [true]),
    plain: await deploy(url, 'OldCoin', [false]),
    kitties: await deploy(url, 'OldNft', [false]),
    series: await deploy(url, 'Series', [users.slice(0, 3), 2n]),
    punks: await deploy(url, 'Punks'),
    forged: await deploy(url, 'Forged'),
    rebasing: await deploy(url, 'Rebasing', ['Rebasing']),
    fee: await deploy(url, 'Fee', ['Fee']),
    premint: await deploy(url, 'Premint', ['Premint', 1_000_000n]),
    spoof: await deployLiar(url, SPOOF),
  };
  // Of a coin that has logged nothing, the service knows nothing.
  for (const name of ODD_COINS) await contracts[name].mine('mint', [users[1], 1n]);
  // From here on, blocks of several transactions, which reorgs may replace.
  await anvil.rpc('evm_setAutomine', false);
  const first = await anvil.head();
  const directory = await mkdtemp(join(tmpdir(), 'oracle-'));
  await using made = new AsyncDisposableStack();
  made.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  let service = await spawnIndexed(url, directory, port);
  made.defer(async () => void (await service.end('SIGKILL')));
  const list = createLister((path) => service.ask(path));
  const accounts = [...users, ...Object.values(contracts).map(({ address }) => address)];

  let markers = 0n;
  /**
   * Resolves once the service follows the node's branch to its head. After a revert the height alone does not tell: the service may
   * still be at the same height of the old branch.
   */
  const catchUp = async () => {
    const data = fromNumber(++markers, { size: 32 });
    const hash = await sendTransaction(url, users[1], data, { gas: GAS });
    await anvil.mine();
    await service.indexed(await anvil.head());
    const found = async () =>
      (await service.ask(`/v1/evm/transaction/${hash}?chain_ids=31337`)).json.transaction;
    await expect.poll(found).toMatchObject({ hash });
    await service.traced(await anvil.head());
  };

  const compare = async () => {
    await catchUp();
    const { other, wrapped, staked, hybrid, coinFirst, indexed, plain } = contracts;
    const { items, staking, multisig, kitties, series, punks, forged } = contracts;
    const coins = [coin, other, wrapped, staked, hybrid, coinFirst, indexed, plain];
    const owners = await readOwners(contracts);
    for (const account of users) {
      await checkBalances(list, anvil, account, coins, [staking, multisig, kitties, series, punks, forged]);
      await checkCollectibles(list, account, items, owners);
    }
    for (const each of coins)
      if ((await each.read('totalSupply')) !== 0n) await checkHolders(list, each, accounts);
    const odd = ODD_COINS.map((name) => contracts[name]);
    await checkOddBalances(list, users, odd);
    for (const each of odd) await checkOddHolders(service, each, accounts);
    for (const each of [...coins, ...odd]) await checkSupply(service, each);
    const { lists, fees } = await scan(anvil);
    for (const account of accounts) {
      const found = await list(`transactions/${account}?limit=17`, 'transactions');
      expect(found.map(({ hash }) => hash)).toEqual((lists.get(account) ?? []).toReversed());
      await checkActivity(list, anvil, account, fees.get(account) ?? 0n);
    }
    figures.comparisons += users.length * (coins.length + odd.length + 2) + accounts.length * 2;
    figures.comparisons += (coins.length + odd.length) * 2;
  };
  const check = () =>
    compare().catch(async (error) => {
      // Of a node that has gone silent, the service can say nothing, for as long as it is asked.
      await anvil.head();
      throw error;
    });

  let snapshot: unknown = null;
  const disturb = async (at: number) => {
    switch (at % 100) {
      case SNAPSHOT:
        await anvil.mine();
        snapshot = await anvil.rpc('evm_snapshot');
        break;
      case REVERT:
        // What is not mined by then would be of another chain.
        await anvil.mine();
        await anvil.rpc('evm_revert', snapshot);
        figures.reverts += 1;
        break;
      case REORG:
        await anvil.rpc(
          'anvil_reorg',
          Math.min(1 + ((7 * figures.reorgs) % 30), (await anvil.head()) - first),
          [],
        );
        figures.reorgs += 1;
        break;
      case KILL:
        await service.end('SIGKILL');
        service = await spawnIndexed(url, directory, port);
        figures.kills += 1;
        break;
    }
  };

  for (const [at, { from, action, endsBlock }] of steps.entries()) {
    await disturb(at);
    const { to, data, value } = minedOf(action, contracts, users);
    const sender = users[from];
    await sendTransaction(url, to, data, {
      gas: GAS,
      ...(sender && { from: sender }),
      ...(value && { value }),
    });
    if (endsBlock) await anvil.mine();
    if (at % (A_CHAIN / 2) === A_CHAIN / 2 - 1) await check();
  }
  await check();
};

test('after random transactions, reorgs, reverts and kills every balance, owner and list is what the chain itself says', {
  timeout: 3_600_000,
}, async () => {
  const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
  const steps = fc.sample(step, { numRuns: runs(5_000, 300), seed });
  if (process.env.FC_RUNS) process.stdout.write(`seed ${seed}\n`);
  const figures = { reorgs: 0, reverts: 0, kills: 0, comparisons: 0 };
  for (let at = 0, silences = 0; at < steps.length; ) {
    try {
      await compareAfter(steps.slice(at, at + A_CHAIN), figures);
      at += A_CHAIN;
    } catch (error) {
      // The node's own fault, and no chain is left to compare with: these steps are made again on another one.
      if (!(error instanceof SilentNodeError) || ++silences > steps.length / 100) throw error;
    }
  }
  if (process.env.FC_RUNS) process.stdout.write(`${JSON.stringify({ steps: steps.length, ...figures })}\n`);
  for (const figure of Object.values(figures)) expect(figure).toBeGreaterThan(0);
});
