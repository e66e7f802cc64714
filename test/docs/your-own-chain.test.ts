import { expect, test } from 'vitest';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, receiptOf, sendTransaction } from '../backend/indexer/support/contracts.ts';
import { startGateway } from '../support/gateway/start.ts';
import { blocksOf, readPage } from '../support/pages.ts';

type Shown = (block: number, chainId: number, url: string) => Promise<void>;

test('the helper for test suites waits until every lookup shows a block', async () => {
  const [code = ''] = blocksOf(await readPage('docs/your-own-chain.md'), 'js');
  const { shown }: { shown: Shown } = await import(
    `data:text/javascript,${encodeURIComponent(`${code}\nexport { shown };`)}`
  );
  await using anvil = await startAnvil();
  const [, to = '0x'] = await accountsOf(anvil.url);
  await using gateway = await startGateway({ CHAINS: `31337=${anvil.url}` }, { readsChains: true });
  const newest = async () => {
    const { wallet } = await gateway.data<{ wallet: { transactions: { nodes: { hash: string }[] } } }>(
      `{ wallet(address: "${to}") { transactions(first: 1) { nodes { hash } } } }`,
    );
    return wallet.transactions.nodes[0]?.hash;
  };
  for (let sent = 0; sent < 5; sent++) {
    const hash = await sendTransaction(anvil.url, to, '0x', { value: 1n });
    const { blockNumber } = await receiptOf(anvil.url, hash);
    await shown(blockNumber, 31_337, `${gateway.url}/graphql`);
    expect(await newest()).toBe(hash);
  }
});
