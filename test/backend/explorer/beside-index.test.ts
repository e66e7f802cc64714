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

type Delivery = { type: string; chainId: number | null; payload: Record<string, unknown> };

/** What differs by its chain, and what explorers don't know, or only of code that is verified and of rows that list the call. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['chain', 'chain_id', 'decoded', 'function', 'tx_from', 'tx_to', 'tx_value', 'is_current'],
  ...['amount_before', 'amount_after', 'value_before_usd', 'value_after_usd'],
]);

const withoutThose = (item: object): object =>
  JSON.parse(JSON.stringify(item, (name, value: unknown) => (LEFT_OUT.has(name) ? undefined : value)));

test('what a watched wallet gets of a chain of BLOCKSCOUT is what it gets of the same one in CHAINS', async () => {
  await using anvil = await startAnvil();
  const [alice, bob] = await accountsOf(anvil.url);
  if (alice === undefined || bob === undefined) throw new Error('expected two accounts');
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
  await coin.mine('mint', [bob, 5_000_000n], { from: bob });
  await anvil.mine(3);
  const contents = contentsOfNode({ chainId: 1, call: anvil.rpc });
  await using explorer = await startBlockscout({
    chains: [{ id: 1, contents }],
    hosted: { key: 'a-key-of-the-hosted-api', perSecond: 1_000, credits: 1e9 },
  });
  await using gateway = await startGateway(
    {
      ...{ CHAINS: `31337=${anvil.url}`, BLOCKSCOUT: '1', BLOCKSCOUT_URL: explorer.url },
      ...{ BLOCKSCOUT_API_KEY: 'a-key-of-the-hosted-api', BLOCKSCOUT_LIVE: 'on' },
      ...{ BLOCKSCOUT_LIVE_CREDITS: '1000000000', BLOCKSCOUT_LIVE_CONFIRMATIONS: '2' },
    },
    { readsChains: true },
  );
  const indexed = () => gateway.data('{ chain(chainId: 31337) { index { behind } } }');
  await expect.poll(indexed, { timeout: 30_000 }).toEqual({ chain: { index: { behind: '0' } } });
  await gateway.data(
    'mutation ($address: Address!) { watchWallet(input: { address: $address }) { __typename } }',
    { address: alice },
  );
  const asked = () => explorer.requests.some(({ path }) => path.endsWith('/v2/blocks'));
  await expect.poll(asked, { timeout: 30_000 }).toBe(true);
  await coin.mine('transfer', [alice, 1_000_000n], { from: bob });
  await art.mine('mint', [alice, 7n, ''], { from: bob });
  await sendTransaction(anvil.url, bob, '0x', { from: alice, value: 9n });
  await coin.mine('transfer', [bob, 400n], { from: alice });
  await coin.mine('transfer', [bob, 2n ** 200n], { from: alice, gas: 100_000n });
  await anvil.mine(2);
  const itemsOf = async (chainId: number) => {
    const { deliveries } = await gateway.data<{ deliveries: { nodes: Delivery[] } }>(
      '{ deliveries(first: 100) { nodes { type chainId payload } } }',
    );
    return deliveries.nodes
      .filter((delivery) => delivery.chainId === chainId)
      .flatMap(({ type, payload }) =>
        Object.values(payload)
          .filter(Array.isArray)
          .flat()
          .map((item) => ({ type, ...withoutThose(item) })),
      )
      .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  };
  await expect.poll(async () => (await itemsOf(31_337)).length, { timeout: 30_000 }).toBe(11);
  await expect.poll(() => itemsOf(1), { timeout: 60_000 }).toEqual(await itemsOf(31_337));
});
