import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  Environment,
  type FetchFunction,
  fetchQuery,
  type GraphQLResponse,
  type GraphQLTaggedNode,
  getSingularSelector,
  Network,
  type ReaderFragment,
  RecordSource,
  Store,
} from 'relay-runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PageInfo } from '../support/clients/walk.ts';
import { folderOf } from '../support/folder.ts';
import { startGateway } from '../support/gateway/start.ts';
import { RELAY_DOCUMENTS } from '../support/payloads/relay-documents.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { pagingSchemes, startGrowingWallet } from '../support/upstream/growing-wallet.ts';

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, '../..');

const documents = `graphql\`
  fragment walletPage_wallet on Wallet
  @refetchable(queryName: "walletPageRefetch")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }) {
    address
    transactions(first: $count, after: $cursor) @connection(key: "walletPage_transactions") {
      edges { node { id hash to blockNumber } }
    }
  }
\`;
graphql\`
  query walletPageQuery($address: Address!) { wallet(address: $address) { id ...walletPage_wallet } }
\`;
graphql\`
  query walletPageThrowingQuery($address: Address!) @throwOnFieldError {
    wallet(address: $address) { transactions { nodes { hash } } }
  }
\`;
`;

/** What every service says of an activity and of a balance change, and what not every one does. */
const TYPED = `graphql\`
  query typedQuery($address: Address!) @throwOnFieldError {
    wallet(address: $address) {
      activity {
        nodes { typeName chainId blockNumber blockTime transactionHash valueUsd }
      }
      transactions { nodes { index value data nonce fee } }
    }
    deliveries {
      nodes {
        events {
          __typename
          ... on BalanceChange { subscribedAddress transactionHash direction amountDelta amountAfter }
          ... on TransactionEvent { transaction { index value nonce data } }
        }
      }
    }
  }
\`;
`;

/** What relay-compiler makes of these documents and of the schema that is committed. */
let folder: string;
let compiled: <Artifact>(name: string) => Artifact;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'relay-test-'));
  await mkdir(join(folder, 'src'));
  await cp(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  await writeFile(join(folder, 'src/walletPage.js'), documents);
  await writeFile(join(folder, 'src/client.js'), RELAY_DOCUMENTS);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: false };
  await writeFile(join(folder, 'relay.config.json'), JSON.stringify(config));
  const compiler = require.resolve('relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: folder });
  const load = createRequire(join(folder, 'src/'));
  compiled = (name) => load(`./__generated__/${name}.graphql.js`);
});

afterAll(() => rm(folder, { recursive: true }));

test("with @throwOnFieldError Relay's types have null only for what a service may leave out", async () => {
  await using typed = await folderOf({
    'schema.graphql': await readFile(join(root, 'schema.graphql'), 'utf8'),
    'src/typed.ts': TYPED,
    'relay.config.json': JSON.stringify({
      src: './src',
      schema: './schema.graphql',
      language: 'typescript',
      customScalarTypes: {
        Address: 'string',
        BigInt: 'string',
        ChainId: 'number',
        DateTime: 'string',
        Decimal: 'string',
        Hex: 'string',
      },
    }),
  });
  const compiler = require.resolve('relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: typed.path('.') });
  const artifact = await readFile(typed.path('src/__generated__/typedQuery.graphql.ts'), 'utf8');
  const data = artifact.slice(artifact.indexOf('export type typedQuery$data'));
  const fields = [...data.matchAll(/readonly (\w+): ([^{\n]+);$/gm)].filter(
    ([, name]) => name !== '__typename',
  );
  const nullable = fields.filter(([, , type]) => type?.includes('null')).map(([, name]) => name);
  expect(fields.length).toBeGreaterThan(18);
  expect(nullable.toSorted()).toEqual(['amountAfter', 'data', 'fee', 'valueUsd']);
  // Lists, and items that can't be parsed, fail with an error, too.
  expect(data).not.toMatch(/readonly (activity|transactions|nodes): .*null/);
});

type WalletPage = {
  address: string;
  transactions: { edges: { node: { hash: string } }[]; pageInfo: PageInfo };
};

test('Relay compiles pages, streams, and mutations that change lists', () => {
  const operations = [...RELAY_DOCUMENTS.matchAll(/(?:query|mutation|subscription) (client\w+)/g)];
  expect(operations.length).toBeGreaterThan(5);
  for (const [, name = ''] of operations) expect(compiled<ConcreteRequest>(name).params.name).toBe(name);
});

test.each(pagingSchemes)(
  'Relay pages a fragment with @connection and @refetchable to the end of a wallet whose head grows, once each ($by, $sizes)',
  async (scheme) => {
    await using wallet = await startGrowingWallet(scheme);
    const ask: FetchFunction = async ({ text }, variables) => {
      const response = await wallet.fetch(wallet.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query: text, variables }),
      });
      return JSON.parse(await response.text());
    };
    const environment = new Environment({
      network: Network.create(ask),
      store: new Store(new RecordSource()),
    });

    const query = createOperationDescriptor(compiled<ConcreteRequest>('walletPageQuery'), {
      address: wallet.address,
    });
    environment.retain(query);
    await fetchQuery(environment, query.request.node, query.request.variables).toPromise();

    const { wallet: reference } = environment.lookup(query.fragment).data as { wallet: { id: string } };
    const fragment = compiled<ReaderFragment>('walletPage_wallet');
    /** What a component that has this fragment is given. */
    const read = () => {
      const selector = getSingularSelector(fragment, reference);
      if (!selector) throw new Error('expected the wallet, got nothing');
      return environment.lookup(selector).data as WalletPage;
    };
    const refetch = compiled<GraphQLTaggedNode>('walletPageRefetch');
    for (let page = read().transactions; page.pageInfo.hasNextPage; page = read().transactions)
      await fetchQuery(environment, refetch, {
        id: reference.id,
        count: 20,
        cursor: page.pageInfo.endCursor,
      }).toPromise();

    expect(read().address).toBe(wallet.address);
    expect(read().transactions.edges.map(({ node }) => node.hash)).toEqual(wallet.hashes);
    expect(wallet.served).toEqual(wallet.hashes);
  },
);

test('@throwOnFieldError throws where a field that is marked as never null has failed', async () => {
  await using fake = await startFakeService();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const ask: FetchFunction = async ({ text }, variables) => {
    const { data, errors } = await gateway.query(String(text), variables);
    return { data, errors } as GraphQLResponse;
  };
  const environment = new Environment({ network: Network.create(ask), store: new Store(new RecordSource()) });
  const query = compiled<GraphQLTaggedNode>('walletPageThrowingQuery');
  const address = `0x${'1'.repeat(40)}`;
  const read = fetchQuery(environment, query, { address }).toPromise();
  await expect(read).rejects.toThrow(/Unexpected response payload/);
});
