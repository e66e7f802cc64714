import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openFacts } from '../../../src/service/indexed/facts.ts';
import { createNode } from '../../../src/service/indexed/node/node.ts';
import { parseBlock } from '../../../src/service/indexed/parse.ts';
import type { Chain, Transaction } from '../../../src/service/types.ts';
import { folderOf } from '../../support/folder.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, deploy } from './support/contracts.ts';

const CHAIN: Chain = {
  id: 31337,
  name: 'anvil',
  tags: [],
  native: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  webhooks: true,
  unsupported: [],
};

test('what is known of a collection names its calls, and is gone with its block', async () => {
  await using anvil = await startAnvil();
  const node = createNode({ url: anvil.url, chainId: CHAIN.id });
  const database = new DatabaseSync(':memory:', { readBigInts: true });
  await using files = await folderOf({ 'prices.json': '{"31337":{"native":3000}}' });
  const facts = await openFacts({
    database,
    chains: [CHAIN],
    nodes: new Map([[CHAIN.id, node]]),
    abiDirectory: null,
    metadata: null,
    prices: files.path('prices.json'),
    log() {},
  });
  facts.start();
  const [owner = '0x', friend] = await accountsOf(anvil.url);
  const art = await deploy(anvil.url, 'Art', ['Pictures', 'ART']);
  await art.mine('mint', [owner, 7n, 'ipfs://seven']);
  await art.mine('transferFrom', [owner, friend, 7n]);
  const fetched = await node.block(await anvil.head());
  if (fetched === null) throw new Error('expected the newest block, got none');
  const { number, transactions } = parseBlock(CHAIN.id, fetched);
  await facts.contracts.learn({ ...fetched.block, chainId: CHAIN.id, transactions }, true);

  const [sent] = transactions;
  const call = { ...sent, chain: CHAIN } as Transaction;
  expect(facts.decodeCall(call)?.inputs.at(-1)).toEqual({ name: 'tokenId', type: 'uint256', value: '7' });
  expect(sent?.logs.map((log) => facts.decodeLog(CHAIN.id, log)?.name)).toEqual(['Transfer']);
  expect(facts.contractName(CHAIN.id, art.address)).toBe('Pictures');
  expect(facts.collection(CHAIN.id, art.address)).toMatchObject({ name: 'Pictures', symbol: 'ART' });
  expect(facts.collection(CHAIN.id, owner)).toBeNull();
  expect(facts.price(CHAIN.id, null, Date.now())).toBe(3000);
  expect(facts.price(CHAIN.id, art.address, Date.now())).toBeNull();
  const place = [1];
  const holding = { chain: CHAIN, contract: art.address, standard: 'erc721', tokenId: 7n } as const;
  const rest = { symbol: null, balance: 1n, acquiredAt: 0, soldFor: null, place };
  expect(facts.metadata({ ...holding, ...rest })).toBeNull();

  facts.removed(CHAIN.id, number);
  expect(facts.token(CHAIN.id, art.address)).toBeNull();
  expect(facts.decodeCall(call)?.inputs.at(-1)?.name).toBe('value');
  await node.close();
  await facts.stop();
  database.close();
});
