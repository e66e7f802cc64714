import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/backend/explorer/client/operations.ts';
import type { Account, ExplorerToken } from '../../../src/backend/explorer/client/rows.ts';
import type { Hex } from '../../../src/backend/types.ts';
import { contentsOfNode } from '../../support/blockscout/from-node.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { problemsOf } from '../../support/blockscout/shapes.ts';
import { type Anvil, startAnvil } from '../indexer/support/anvil.ts';
import { abiOf, accountsOf, deploy, sendTransaction } from '../indexer/support/contracts.ts';
import { startAsking } from './support/asking.ts';

/** The simulated explorer over the blocks of a real node. */

const start = async (anvil: Anvil) => {
  const [alice, bob] = await accountsOf(anvil.url);
  if (alice === undefined || bob === undefined) throw new Error('expected two accounts');
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
  const items = await deploy(anvil.url, 'Items', ['ipfs://none']);
  const abi = await abiOf('Coin');
  const contents = contentsOfNode({
    ...{ chainId: 31337, call: anvil.rpc, prices: new Map<Hex | null, number>([[coin.address, 2]]) },
    verified: new Map([[coin.address, { name: 'Coin', abi }]]),
  });
  return { alice, bob, coin, art, items, contents };
};

describe('A wallet of a node', () => {
  test('is told as the node has it', async () => {
    await using anvil = await startAnvil();
    const { alice, bob, coin, art, items, contents } = await start(anvil);
    await coin.mine('mint', [bob, 5_000_000n]);
    await coin.mine('transfer', [alice, 1_000_000n], { from: bob });
    await art.mine('mint', [bob, 7n, 'data:application/json,{"name":"Seven","image":"ipfs://seven"}']);
    await items.mine('mintBatch', [bob, [1n, 2n, 1n], [10n, 20n, 5n]]);
    await sendTransaction(anvil.url, bob, '0x', { value: 9n });
    await coin.mine('transfer', [alice, 2n ** 200n], { from: bob, gas: 100_000n });

    await using explorer = await startBlockscout({ chains: [{ id: 31337, contents }] });
    await using asking = startAsking();
    const { client, until } = asking;
    const chain = explorer.chain();
    const lookup = () => client.lookup('one');
    const wanted = { address: bob };

    const sent = await until(client.list(chain, OPERATIONS.addressTransactions, wanted, null, lookup()));
    expect(sent.items).toMatchObject([
      { from: { hash: bob }, status: 'error', value: 0n },
      { to: { hash: bob }, status: 'ok', value: 9n, raw_input: '0x', decoded_input: null },
      {
        from: { hash: bob },
        to: { hash: coin.address, name: 'Coin', is_contract: true } satisfies Partial<Account>,
        status: 'ok',
        raw_input: coin.data('transfer', alice, 1_000_000n),
        decoded_input: { parameters: [{ type: 'address' }, { type: 'uint256', value: '1000000' }] },
      },
    ]);

    const moved = await until(client.list(chain, OPERATIONS.addressTokenTransfers, wanted, null, lookup()));
    expect(moved.items).toMatchObject([
      { token_type: 'ERC-1155', type: 'token_minting', total: { token_id: 1n, value: 15n } },
      { token_type: 'ERC-1155', type: 'token_minting', total: { token_id: 2n, value: 20n } },
      { token_type: 'ERC-721', token: { address_hash: art.address }, total: { token_id: 7n, value: null } },
      { token_type: 'ERC-20', type: 'token_transfer', from: { hash: bob }, total: { value: 1_000_000n } },
      { token_type: 'ERC-20', type: 'token_minting', total: { value: 5_000_000n, decimals: 6 } },
    ]);

    const tokens = { ...wanted, types: ['ERC-20'] } as const;
    const held = await until(client.list(chain, OPERATIONS.addressTokens, tokens, null, lookup()));
    expect(held.items).toMatchObject([
      {
        token: { symbol: 'COIN', decimals: 6, exchange_rate: 2 } satisfies Partial<ExplorerToken>,
        value: 4_000_000n,
      },
    ]);
    const nfts = await until(client.list(chain, OPERATIONS.addressNft, wanted, null, lookup()));
    expect(nfts.items).toMatchObject([
      { id: 7n, token_type: 'ERC-721', metadata: { name: 'Seven' }, image_url: 'ipfs://seven' },
      { id: 2n, token_type: 'ERC-1155', value: 20n },
      { id: 1n, token_type: 'ERC-1155', value: 15n },
    ]);
    const about = await until(client.one(chain, OPERATIONS.address, wanted, lookup()));
    expect(about?.coin_balance).toBe(BigInt(String(await anvil.rpc('eth_getBalance', bob, 'latest'))));

    for (const { path, target } of [...explorer.requests]) {
      const response = await fetch(`${explorer.url}${target}`);
      expect(problemsOf(path.replace('/v2', ''), await response.json()) ?? []).toEqual([]);
    }
  });

  test('follows new blocks, and leaves those that a reorg has unwound', async () => {
    await using anvil = await startAnvil();
    const { bob, coin, contents } = await start(anvil);
    const before = await contents();
    expect(await contents()).toBe(before);
    const snapshot = await anvil.rpc('evm_snapshot');
    await coin.mine('mint', [bob, 5n]);
    const { transfers } = await contents();
    expect(transfers).toMatchObject([{ to: bob, value: 5n }]);
    await anvil.rpc('evm_revert', snapshot);
    await coin.mine('mint', [bob, 6n]);
    const after = await contents();
    expect(after.transfers).toMatchObject([{ to: bob, value: 6n }]);
    expect(after.blocks).toHaveLength(before.blocks.length + 1);
    expect(after.holdings).toMatchObject([{ owner: bob, value: 6n }]);
  });
});
