import { afterAll, beforeAll, expect, test } from 'vitest';
import { namehash } from '../../../src/backend/evm/ens.ts';
import type { Hex } from '../../../src/backend/types.ts';
import { codesOf, type Gateway } from '../../support/gateway/start.ts';
import { type Anvil, startAnvil } from './support/anvil.ts';
import { accountsOf, type Contract, deploy } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { CHAIN, open, untilIndexed } from './support/outcomes.ts';

/** Wallets have the names that the registry of their chain says, if these lead back to them. */

const answerOf = ({ query }: Pick<Gateway, 'query'>, wallet: Hex, args = '') =>
  query<{ wallet: { name: string | null } }>(`{ wallet(address: "${wallet}") { name${args} } }`);

const nameOf = async (gateway: Pick<Gateway, 'query'>, wallet: Hex) => {
  const { data, errors } = await answerOf(gateway, wallet);
  expect(errors).toBeUndefined();
  return data?.wallet.name;
};

const reverse = (wallet: Hex): Hex => namehash(`${wallet.slice(2)}.addr.reverse`);

let anvil: Anvil;
let accounts: readonly Hex[];
let registry: Contract;
let resolver: Contract;
let offchain: Contract;

/** Lets a wallet claim a name, and the name lead to a wallet. */
const claim = async (wallet: Hex, name: string, owner: Hex | null = wallet, to = resolver): Promise<void> => {
  await registry.mine('setResolver', [reverse(wallet), to.address]);
  await resolver.mine('setName', [reverse(wallet), name]);
  if (owner === null) return;
  await registry.mine('setResolver', [namehash(name), resolver.address]);
  await resolver.mine('setAddr', [namehash(name), owner]);
};

const openNamed = (url: string, env: Readonly<Record<string, string>> = {}) =>
  open(url, { ENS_REGISTRY: `${CHAIN}=${registry.address}`, ...env });

const wallet = (at: number): Hex => accounts[at] ?? '0x';

beforeAll(async () => {
  anvil = await startAnvil();
  accounts = await accountsOf(anvil.url);
  registry = await deploy(anvil.url, 'NameRegistry');
  resolver = await deploy(anvil.url, 'NameResolver');
  offchain = await deploy(anvil.url, 'OffchainResolver');
  await claim(wallet(0), 'alice.eth');
  await claim(wallet(1), '👨‍👩‍👧.żółw.eth');
  // Whose name is Alice's by its own word alone.
  await claim(wallet(2), 'alice.eth', null);
  // No wildcard: a name below one that has a resolver.
  await claim(wallet(3), 'sub.alice.eth', null);
  await claim(wallet(4), 'offchain.eth', wallet(4), offchain);
  for (const [at, name] of ['Bob.eth', 'b\u043eb.eth', 'evil\u202egpj.eth', 'a b.eth', '.eth'].entries())
    await claim(wallet(5 + at), name);
});
afterAll(() => anvil[Symbol.asyncDispose]());

test('a name is shown that is normalised and leads back to its wallet, and no other', async () => {
  await using gateway = await openNamed(anvil.url);
  await untilIndexed(gateway, await anvil.head());
  const names = await Promise.all(accounts.map((account) => nameOf(gateway, account)));
  expect(names).toEqual(['alice.eth', '👨‍👩‍👧.żółw.eth', ...Array.from({ length: 8 }, () => null)]);
  expect(await nameOf(gateway, registry.address)).toBeNull();
  const explicit = await answerOf(gateway, wallet(0), `(chainId: ${CHAIN})`);
  expect(explicit.data?.wallet.name).toBe('alice.eth');
  const { chain, node } = await gateway.data<{
    chain: { supports: readonly string[] };
    node: { name: string };
  }>(
    `{ chain(chainId: ${CHAIN}) { supports } node(id: "${Buffer.from(`Wallet:${wallet(0)}`).toString('base64')}") { ... on Wallet { name } } }`,
  );
  expect(chain.supports).toContain('NAMES');
  expect(node.name).toBe('alice.eth');
});

test('a record that changes with an event is another name at once, and one that was taken back too', async () => {
  await using gateway = await openNamed(anvil.url, { CACHE_HEAD_MS: '2000' });
  await untilIndexed(gateway, await anvil.head());
  const snapshot = await anvil.rpc('evm_snapshot');
  expect(await nameOf(gateway, wallet(0))).toBe('alice.eth');
  await resolver.mine('setAddr', [namehash('alice.eth'), wallet(9)]);
  await expect.poll(() => nameOf(gateway, wallet(0))).toBeNull();
  await claim(wallet(0), 'carol.eth');
  await expect.poll(() => nameOf(gateway, wallet(0))).toBe('carol.eth');
  await anvil.rpc('evm_revert', snapshot);
  await expect.poll(() => nameOf(gateway, wallet(0))).toBe('alice.eth');
});

test('a name is asked once in an hour, and one that the node fails to say is an error, not none', async () => {
  await using faulty = await startFaultyNode(anvil.url);
  let calls = 0;
  let isFailing = false;
  faulty.faults.call = (call, ask) => {
    if (call.method !== 'eth_call') return ask();
    calls += 1;
    return isFailing ? { error: { code: -32603, message: 'Internal error' } } : ask();
  };
  await using gateway = await openNamed(faulty.url);
  await untilIndexed(gateway, await anvil.head());
  expect(await nameOf(gateway, wallet(0))).toBe('alice.eth');
  const asked = calls;
  const snapshot = await anvil.rpc('evm_snapshot');
  await resolver.mine('setSilently', [reverse(wallet(0)), 'mallory.eth']);
  await untilIndexed(gateway, await anvil.head());
  expect(await nameOf(gateway, wallet(0))).toBe('alice.eth');
  expect(calls).toBe(asked);
  isFailing = true;
  const failed = await answerOf(gateway, wallet(1));
  expect(failed.data?.wallet.name).toBeNull();
  expect(codesOf(failed)).toEqual(['UPSTREAM_UNAVAILABLE']);
  isFailing = false;
  await expect
    .poll(async () => (await answerOf(gateway, wallet(1))).data?.wallet.name)
    .toBe('👨‍👩‍👧.żółw.eth');
  await anvil.rpc('evm_revert', snapshot);
});

test('names are hashed as ENSIP-1 says', () => {
  expect(namehash('foo.eth')).toBe('0xde9b09fd7c5f901e23a3f19fecc54828e9c848539801e86591bd9801b019f84f');
});

test('without a registry there are no names', async () => {
  await using gateway = await open(anvil.url);
  await untilIndexed(gateway, await anvil.head());
  expect(await nameOf(gateway, wallet(0))).toBeNull();
  const refused = await answerOf(gateway, wallet(0), `(chainId: ${CHAIN})`);
  expect(codesOf(refused)).toEqual(['BAD_USER_INPUT']);
});
