import { namehash, reverseNode } from '../../../src/backend/evm/ens.ts';
import type { Anvil } from '../../backend/indexer/support/anvil.ts';
import { accountsOf, deploy, sendTransaction } from '../../backend/indexer/support/contracts.ts';

/** What a team does on its chain: a token, a swap, collectibles of both kinds, approvals, payments, a failed call, a name. */
export const populate = async ({ url }: Anvil) => {
  const [owner = '0x', friend = '0x', other = '0x'] = await accountsOf(url);
  const coin = await deploy(url, 'Coin', ['Dollar Coin', 'DOLLAR', 6]);
  const second = await deploy(url, 'Coin', ['Second Coin', 'SECOND', 18]);
  const art = await deploy(url, 'Art', ['Art', 'ART']);
  const things = await deploy(url, 'Items', ['https://example.com/{id}.json']);
  const pool = await deploy(url, 'Pool', [coin.address, second.address]);
  await coin.mine('mint', [owner, 10_000_000n]);
  await second.mine('mint', [owner, 10n ** 20n]);
  await coin.mine('transfer', [pool.address, 1_000_000n]);
  await second.mine('transfer', [pool.address, 10n ** 18n]);
  await coin.mine('approve', [pool.address, 500_000n]);
  await pool.mine('swap', [coin.address, 500_000n]);
  for (let at = 1; at <= 8; at++) {
    await coin.mine('transfer', [at % 2 === 0 ? friend : other, BigInt(at * 1_000)]);
    await art.mine('mint', [owner, BigInt(at), `https://example.com/${at}`]);
    await sendTransaction(url, friend, '0x', { value: BigInt(at) * 10n ** 15n });
  }
  await art.mine('transferFrom', [owner, friend, 1n]);
  for (let at = 2; at <= 7; at++) await art.mine('approve', [friend, BigInt(at)]);
  await second.mine('approve', [other, 7n]);
  await things.mine('mintBatch', [owner, [1n, 2n], [5n, 6n]]);
  await coin.mine('transfer', [friend, 10n ** 30n], { gas: 100_000n });
  await coin.mine('burn', [1_000n]);
  const registry = await deploy(url, 'NameRegistry');
  const resolver = await deploy(url, 'NameResolver');
  const reverse = reverseNode(owner);
  for (const node of [reverse, namehash('owner.eth')])
    await registry.mine('setResolver', [node, resolver.address]);
  await resolver.mine('setName', [reverse, 'owner.eth']);
  await resolver.mine('setAddr', [namehash('owner.eth'), owner]);
  return { wallets: [owner, friend], coin, registry };
};
