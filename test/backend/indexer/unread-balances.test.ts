import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway/start.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf } from './support/contracts.ts';
import { startFaultyNode } from './support/faulty-node.ts';
import { API_KEY, openIndexed } from './support/service.ts';

const WALLET = `query ($user: Address!) {
  wallet(address: $user) {
    balances { nodes { amount } partialErrors }
    portfolio { countedBalances isComplete unavailableChainIds }
  }
}`;

type Seen = {
  readonly wallet: {
    readonly balances: { readonly nodes: readonly object[]; readonly partialErrors: unknown };
    readonly portfolio: object;
  };
};

test('a wallet that could not be read while its node was away is whole soon after its return, however long pages are fresh', async () => {
  await using anvil = await startAnvil();
  const [user = '0x'] = await accountsOf(anvil.url);
  await using node = await startFaultyNode(anvil.url);
  await using service = await openIndexed({ chains: [{ id: 31_337, url: node.url, startBlock: null }] });
  await service.indexed(0);
  await using gateway = await startGateway({
    UPSTREAM_URL: service.url,
    UPSTREAM_API_KEY: API_KEY,
    CACHE_HEAD_MS: '600000',
  });
  const look = async () => (await gateway.data<Seen>(WALLET, { user })).wallet;

  node.faults.call = async ({ method }, ask) => {
    if (method === 'eth_getBalance') throw new Error('the node hangs up');
    return ask();
  };
  const away = await look();
  expect(away.balances.nodes).toEqual([]);
  expect(away.balances.partialErrors).not.toBeNull();
  expect(away.portfolio).toMatchObject({ isComplete: false, unavailableChainIds: [31_337] });

  node.faults.call = undefined;
  await expect.poll(async () => (await look()).balances.nodes).toHaveLength(1);
  const { balances, portfolio } = await look();
  expect(balances.partialErrors).toBeNull();
  expect(portfolio).toMatchObject({ isComplete: true, unavailableChainIds: [] });
});
