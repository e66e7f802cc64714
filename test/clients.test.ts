import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { expect, test } from 'vitest';
import { startGateway } from './support/gateway.ts';
import { freshAddress, history, numbered } from './support/make.ts';
import { type PagingScheme, servingTransactions } from './support/upstream-paging.ts';
import type { PageInfo } from './support/walk.ts';
import { startFakeWallets } from './support/wallets.ts';

const root = join(import.meta.dirname, '..');

const walletFragment = `graphql\`
  fragment walletPage_wallet on Wallet
  @refetchable(queryName: "walletPageRefetch")
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" }) {
    address
    transactions(first: $count, after: $cursor) @connection(key: "walletPage_transactions") {
      edges { node { id hash to blockNumber } }
    }
  }
\`;
graphql\`
  query walletPageQuery($address: Address!) { wallet(address: $address) { ...walletPage_wallet } }
\`;
`;

test("Relay's compiler takes a fragment on Wallet with @connection and @refetchable", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relay-test-'));
  try {
    await mkdir(join(folder, 'src'));
    await cp(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
    await writeFile(join(folder, 'src/walletPage.js'), walletFragment);
    const config = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: true };
    await writeFile(join(folder, 'relay.config.json'), JSON.stringify(config));
    const compiler = join(root, 'node_modules/relay-compiler/cli.js');
    await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], {
      cwd: folder,
    });
    expect(await readdir(join(folder, 'src/__generated__'))).toContain('walletPageRefetch.graphql.js');
  } finally {
    await rm(folder, { recursive: true });
  }
});

const walletPage = gql`
  query ($address: Address!, $first: Int, $after: String) {
    wallet(address: $address) {
      id
      transactions(first: $first, after: $after) {
        edges { cursor node { id hash } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
`;

type WalletPage = {
  wallet: {
    id: string;
    transactions: { edges: { cursor: string; node: { id: string; hash: string } }[]; pageInfo: PageInfo };
  };
};

type WalletVariables = { address: string; first: number; after?: string | null };

test.each<PagingScheme>([{ by: 'item' }, { by: 'position' }, { by: 'position', sizes: [30, 0, 7] }])(
  "Apollo's relayStylePagination pages a wallet whose head grows to its end, once each ($by, $sizes)",
  async (scheme) => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      CACHE_HEAD_MS: '0',
      CACHE_TAIL_MS: '0',
    });
    const address = freshAddress();
    const items = history(230);
    const hashes = items.map(({ hash }) => hash);
    fake.transactions.set(address, servingTransactions(items, scheme));

    const client = new ApolloClient({
      link: new HttpLink({ uri: `${gateway.url}/graphql` }),
      cache: new InMemoryCache({
        typePolicies: { Wallet: { fields: { transactions: relayStylePagination() } } },
      }),
    });
    const variables = { address, first: 20 };
    const pages = client.watchQuery<WalletPage, WalletVariables>({ query: walletPage, variables });
    const subscription = pages.subscribe({});
    await client.query<WalletPage, WalletVariables>({ query: walletPage, variables });
    const read = () =>
      client.readQuery<WalletPage, WalletVariables>({ query: walletPage, variables })?.wallet.transactions;

    for (let turn = 0; read()?.pageInfo.hasNextPage; turn += 1) {
      if (turn > 30) throw new Error('the walk did not end');
      items.unshift(numbered(items.length + 1), numbered(items.length + 2));
      await pages.fetchMore({ variables: { after: read()?.pageInfo.endCursor ?? null } });
    }
    subscription.unsubscribe();
    client.stop();

    expect(read()?.edges.map(({ node }) => node.hash)).toEqual(hashes);
  },
);
