import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Hex } from '../../../src/backend/types.ts';
import { folderOf } from '../../support/folder.ts';
import type { Gateway } from '../../support/gateway/start.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import {
  accountsOf,
  artifactOf,
  type Contract,
  type ContractName,
  deploy,
  receiptOf,
  sendTransaction,
} from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { open, untilIndexed } from './support/outcomes.ts';

/** What several ABIs call differently is decoded by the ABI of its contract, or without names. */

type Decoded = { readonly inputs: readonly { readonly name: string | null }[] };
type Transaction = {
  readonly hash: Hex;
  readonly decoded: Decoded | null;
  readonly logs: readonly { readonly decoded: Decoded | null }[];
  readonly revertReason?: { readonly message: string | null } | null;
};

const DECODED = 'hash decoded { inputs { name } } logs { decoded { inputs { name } } }';

const nameIn = (decoded: Decoded | null | undefined) => decoded?.inputs.at(-1)?.name || null;

/** What the last parameters of a call and of its log are called, or what it failed with, by its hash. */
const namesOf = (transactions: readonly Transaction[]) =>
  new Map(
    transactions.map(({ hash, decoded, logs, revertReason }) => {
      const said = revertReason?.message ?? nameIn(logs.at(-1)?.decoded);
      return [hash, [nameIn(decoded), said]];
    }),
  );

const listOf = async ({ data }: Pick<Gateway, 'data'>, wallet: Hex) => {
  const { wallet: found } = await data<{
    wallet: {
      transactions: { nodes: readonly Transaction[]; partialErrors: unknown };
      activity: { nodes: readonly { transactionHash: Hex; function: Decoded | null }[] };
    };
  }>(`{ wallet(address: "${wallet}") {
    transactions(first: 100) { nodes { ${DECODED} revertReason { message } } partialErrors }
    activity(first: 100) { nodes { transactionHash function } }
  } }`);
  return found;
};

let anvil: Anvil;
let [sender, other]: Hex[] = [];
let shop: Contract;
let dial: Contract;
let knob: Contract;
let caller: Contract;
let proxy: Contract;
/** The hashes of transactions, with what is expected of each. */
const expected = new Map<Hex, readonly (string | null)[]>();

const call = async (to: Hex, data: Hex, names: readonly (string | null)[], gas?: bigint): Promise<void> => {
  const hash = await sendTransaction(anvil.url, to, data, { from: sender ?? '0x', ...(gas && { gas }) });
  await receiptOf(anvil.url, hash);
  expected.set(hash, names);
};

const textOf = async (name: ContractName) => JSON.stringify(await artifactOf(name));

/** As Hardhat writes it. */
const hardhatOf = async (name: ContractName) => {
  const { abi, deployedBytecode } = await artifactOf(name);
  return JSON.stringify({ _format: 'hh-sol-artifact-1', abi, deployedBytecode: deployedBytecode.object });
};

const filesOf = async () => ({
  'Shop.sol/Shop.json': await textOf('Shop'),
  'Dial.sol/Dial.json': await hardhatOf('Dial'),
  'Caller.sol/Caller.json': await textOf('Caller'),
  'Upgradable.sol/Upgradable.json': await textOf('Upgradable'),
});

beforeAll(async () => {
  anvil = await startAnvil();
  [sender = '0x', other = '0x'] = await accountsOf(anvil.url);
  const from = { from: other };
  shop = await deploy(anvil.url, 'Shop', [100n], from);
  dial = await deploy(anvil.url, 'Dial', [], from);
  knob = await deploy(anvil.url, 'Knob', [], from);
  caller = await deploy(anvil.url, 'Caller', [], from);
  proxy = await deploy(anvil.url, 'Upgradable', [shop.address], from);
  const cloner = await deploy(anvil.url, 'Cloner', [], from);
  await cloner.mine('make', [dial.address], from);
  const clone = String(await cloner.read('made')).toLowerCase() as Hex;
  const change = shop.data('change', 5n);
  await call(shop.address, change, ['price', 'price']);
  await call(dial.address, change, ['level', 'level']);
  await call(knob.address, change, [null, null]);
  await call(clone, change, ['level', 'level']);
  await call(caller.address, caller.data('changeOf', dial.address, 3n), ['value', 'level']);
  await call(shop.address, shop.data('change', 101n), ['price', 'TooMuch(price: 101, limit: 100)'], 300_000n);
  await call(
    caller.address,
    caller.data('changeOf', dial.address, 11n),
    ['value', 'TooMuch(level: 11, top: 10)'],
    300_000n,
  );
  await call(
    caller.address,
    caller.data('changeOf', dial.address, 0n),
    ['value', 'TooMuch(value: 0, most: 0)'],
    300_000n,
  );
});
afterAll(() => anvil[Symbol.asyncDispose]());

test('calls, logs and errors have the names of their contract, found by its code; those of none have no names', async () => {
  await using abis = await folderOf(await filesOf());
  await using faulty = await startFaultyNode(anvil.url);
  const asked: unknown[] = [];
  faulty.faults.call = (each, ask) => {
    if (each.method === 'eth_getCode') asked.push(each.params[0]);
    return ask();
  };
  await using gateway = await open(faulty.url, { ABI_DIR: abis.path('.') });
  await untilIndexed(gateway, await anvil.head());
  const { transactions, activity } = await listOf(gateway, sender ?? '0x');
  expect(transactions.partialErrors).toBeNull();
  expect(namesOf(transactions.nodes)).toEqual(expected);
  for (const { transactionHash, function: called } of activity.nodes)
    expect(nameIn(called)).toBe(expected.get(transactionHash)?.[0]);
  for (const [hash, names] of expected) {
    const { transaction } = await gateway.data<{ transaction: Transaction }>(
      `{ transaction(chainId: 31337, hash: "${hash}") { ${DECODED} revertReason { message } } }`,
    );
    expect(namesOf([transaction]).get(hash)).toEqual(names);
  }
  const contracts = asked.filter((address) => [shop, dial, knob].some((each) => each.address === address));
  expect(contracts.toSorted()).toEqual([...new Set(contracts)].toSorted());
});

test('a file that is named by chain and address is the ABI of that contract', async () => {
  const { abi } = await artifactOf('Knob');
  await using abis = await folderOf({
    ...(await filesOf()),
    [`31337/${knob.address}.json`]: JSON.stringify(abi),
  });
  await using gateway = await open(anvil.url, { ABI_DIR: abis.path('.') });
  await untilIndexed(gateway, await anvil.head());
  const { transactions } = await listOf(gateway, sender ?? '0x');
  const ofKnob = [...expected].flatMap(([hash, [name]]) => (name === null ? [hash] : []));
  for (const hash of ofKnob) expect(namesOf(transactions.nodes).get(hash)).toEqual(['angle', 'angle']);
});

test('while the node does not say the code, names are left out, and the list says so', async () => {
  await using abis = await folderOf(await filesOf());
  await using faulty = await startFaultyNode(anvil.url);
  let isFailing = true;
  faulty.faults.call = ({ method }, ask) =>
    isFailing && method === 'eth_getCode' ? { error: { code: -32603, message: 'Internal error' } } : ask();
  await using gateway = await open(faulty.url, { ABI_DIR: abis.path('.'), CACHE_TAIL_MS: '0' });
  await untilIndexed(gateway, await anvil.head());
  const { transactions } = await listOf(gateway, sender ?? '0x');
  expect(JSON.stringify(transactions.partialErrors)).toMatch(/ABIS_UNKNOWN/);
  const named = [...namesOf(transactions.nodes).values()].flat().filter((name) => name !== null);
  expect(new Set(named)).toEqual(new Set(['value']));
  isFailing = false;
  await expect
    .poll(async () => namesOf((await listOf(gateway, sender ?? '0x')).transactions.nodes))
    .toEqual(expected);
});

test('a proxy is decoded by its implementation, also a new one; a contract that takes the place of another one by its own', async () => {
  await using abis = await folderOf(await filesOf());
  await using gateway = await open(anvil.url, { ABI_DIR: abis.path('.') });
  await untilIndexed(gateway, await anvil.head());
  await gateway.data(
    `mutation { watchWallet(input: { address: "${sender}", types: [TRANSACTIONS] }) { __typename } }`,
  );
  const from = { from: sender ?? '0x' };
  const newest = async () => {
    await untilIndexed(gateway, await anvil.head());
    const [first] = (await listOf(gateway, sender ?? '0x')).transactions.nodes;
    return first && namesOf([first]).get(first.hash);
  };
  const change = async (to: Hex) =>
    receiptOf(anvil.url, await sendTransaction(anvil.url, to, shop.data('change', 7n), from));
  const snapshot = await anvil.rpc('evm_snapshot');
  await change(proxy.address);
  expect(await newest()).toEqual(['price', 'price']);
  await proxy.mine('upgrade', [dial.address], { from: other ?? '0x' });
  await change(proxy.address);
  expect(await newest()).toEqual(['level', 'level']);
  await expect.poll(() => deliveredTo(gateway)).toEqual(['price', 'level']);

  const first = await deploy(anvil.url, 'Shop', [100n], { from: other ?? '0x' });
  await change(first.address);
  expect(await newest()).toEqual(['price', 'price']);
  await anvil.rpc('evm_revert', snapshot);
  await proxy.mine('upgrade', [dial.address], { from: other ?? '0x' });
  const second = await deploy(anvil.url, 'Dial', [], { from: other ?? '0x' });
  expect(second.address).toBe(first.address);
  await change(second.address);
  expect(await newest()).toEqual(['level', 'level']);
});

type Delivered = {
  readonly nodes: readonly { readonly events: readonly { readonly transaction: Transaction }[] }[];
};

/** What the parameters of delivered calls are called. */
const deliveredTo = async ({ data }: Pick<Gateway, 'data'>) => {
  const { deliveries } = await data<{ deliveries: Delivered }>(
    `{ deliveries(first: 10) { nodes { events { ... on TransactionEvent { transaction { ${DECODED} } } } } } }`,
  );
  return deliveries.nodes.flatMap(({ events }) =>
    events.map(({ transaction }) => nameIn(transaction.decoded)),
  );
};
