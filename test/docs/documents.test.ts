import { getOperationAST, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, deploy } from '../backend/indexer/support/contracts.ts';
import { startGateway } from '../support/gateway/start.ts';
import { blocksOf, type Page, readPages } from '../support/pages.ts';

const pages = await readPages();

/** The documents of a page: its `graphql` blocks, and those inside of its other blocks. */
const documentsOf = (page: Page): readonly string[] => [
  ...blocksOf(page, 'graphql'),
  ...blocksOf(page, 'sh').flatMap((block) =>
    // Another body is a call of a node.
    [...block.matchAll(/-d '(\{[\s\S]*?\})'/g)].flatMap(
      ([, body = '']): string[] => JSON.parse(body).query ?? [],
    ),
  ),
  ...blocksOf(page, 'ts').flatMap((block) =>
    [...block.matchAll(/`\s*((?:query|mutation|subscription)\b[^`]*)`/g)].map(
      ([, document = '']) => document,
    ),
  ),
];

const documents = pages.flatMap(documentsOf);

test('the documents of README.md and docs/ are of this schema', () => {
  expect(documents.length).toBeGreaterThan(10);
  expect(documents.flatMap((document) => validate(schema, parse(document)))).toEqual([]);
});

const CHAIN = 31_337;

test("the queries of README.md and docs/ run over a chain of one's own", async () => {
  await using anvil = await startAnvil();
  const [wallet = '0x', other] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Coin', 'COIN', 6]);
  const hash = await coin.send('mint', [wallet, 5n]);
  await using gateway = await startGateway({ CHAINS: `${CHAIN}=${anvil.url}` }, { readsChains: true });
  // No `chainIds`: a query means all default chains.
  const variables = {
    ...{ address: wallet, wallet, mine: wallet, theirs: other, addresses: [wallet] },
    ...{ chainId: CHAIN, hash, token: { contract: { chainId: CHAIN, address: coin.address } } },
    webhookId: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41',
  };
  const found = '{ transaction(chainId: $chainId, hash: $hash) { id } }';
  await expect
    .poll(
      async () => (await gateway.query(`query ($chainId: ChainId!, $hash: Hex!) ${found}`, variables)).data,
    )
    .toMatchObject({ transaction: { id: expect.any(String) } });

  const queries = documents.filter((text) => getOperationAST(parse(text))?.operation === 'query');
  expect(queries.length).toBeGreaterThan(15);
  // A token is asked what it is soon after its block is there.
  for (const query of queries)
    await expect
      .poll(async () => (await gateway.query(query, variables)).errors, { message: query })
      .toBeUndefined();

  // What is not indexed does not look like an empty list that is whole.
  const defi = `{ wallet(address: "${wallet}") { defiPositions { nodes { id } partialErrors } } }`;
  expect(await gateway.data(defi)).toMatchObject({
    wallet: { defiPositions: { nodes: [], partialErrors: { warnings: [{ chain_ids: [CHAIN] }] } } },
  });
});
