import { expect, test } from 'vitest';
import { contentsOfNode } from '../../support/blockscout/from-node.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { startAnvil } from '../indexer/support/anvil.ts';
import { accountsOf, deploy, sendTransaction } from '../indexer/support/contracts.ts';

/** The gateway with CHAINS and BLOCKSCOUT, over one node. */

const BOTH = `query ($address: Address!) {
  wallet(address: $address) {
    transactions(first: 50) {
      nodes {
        chainId hash blockHash blockNumber blockTime index from to value data nonce gasPrice gasUsed effectiveGasPrice fee success
        createdContract transactionType direction logs { address data topics }
      }
      partialErrors
    }
    activity(first: 50) {
      nodes { chainId transactionHash blockNumber blockTime typeName assetType value from to tokenId token { address symbol } }
      partialErrors
    }
    balances(first: 50) { nodes { chainId amount token { address symbol name decimals } } partialErrors }
    collectibles(first: 50) { nodes { chainId contractAddress tokenId balance symbol } partialErrors }
  }
}`;

type Page = { nodes: Record<string, unknown>[]; partialErrors: unknown };

test('a wallet is the same on a chain of CHAINS and on one of BLOCKSCOUT, over one node', async () => {
  await using anvil = await startAnvil();
  const [alice, bob] = await accountsOf(anvil.url);
  if (alice === undefined || bob === undefined) throw new Error('expected two accounts');
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
  await coin.mine('mint', [bob, 5_000_000n], { from: bob });
  await coin.mine('transfer', [alice, 1_000_000n], { from: bob });
  await art.mine('mint', [bob, 7n, ''], { from: bob });
  await sendTransaction(anvil.url, alice, '0x', { from: bob, value: 9n });
  await coin.mine('transfer', [alice, 2n ** 200n], { from: bob, gas: 100_000n });
  const contents = contentsOfNode({ chainId: 1, call: anvil.rpc });
  await using explorer = await startBlockscout({ chains: [{ id: 1, contents }] });
  await using gateway = await startGateway(
    { CHAINS: `31337=${anvil.url}`, BLOCKSCOUT: `1=${explorer.url}` },
    { readsChains: true },
  );
  const head = String(Number(await anvil.rpc('eth_blockNumber')));
  await expect
    .poll(() => gateway.data('{ chain(chainId: 31337) { index { to } } }'), { timeout: 30_000 })
    .toEqual({ chain: { index: { to: head } } });
  const { wallet } = await gateway.data<{ wallet: Record<string, Page> }>(BOTH, { address: bob });
  for (const [list, { nodes, partialErrors }] of Object.entries(wallet)) {
    const of = (chainId: number) =>
      nodes.filter((node) => node.chainId === chainId).map(({ chainId: _, ...node }) => node);
    expect([list, partialErrors, of(1).length > 0]).toEqual([list, null, true]);
    expect([list, of(1)]).toEqual([list, of(31_337)]);
  }
});
