import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import {
  apolloCacheOptions,
  graphcacheOptions,
  keepPages,
  WalletActivity,
  WalletDeliveries,
  WalletOverview,
  WalletTransactions,
} from 'evm-graphql-gateway/client';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  DefaultHandlerProvider,
  Environment,
  type FetchFunction,
  fetchQuery,
  getSingularSelector,
  Network,
  type ReaderFragment,
  RecordSource,
  Store,
} from 'relay-runtime';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { activity } from '../../src/lookups/activity.ts';
import {
  activity as activityDelivered,
  balanceChange,
  deliver,
  deliveriesOf,
} from '../support/clients/deliver.ts';
import { folderOf } from '../support/folder.ts';
import { startGateway } from '../support/gateway/start.ts';
import { sampleOf } from '../support/lookups/samples.ts';
import { root } from '../support/pages.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { serving, servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The usual page: an endless list, with newer items on top, by the cache settings of the client package and the real libraries. */

type List = {
  /** Fetches the first page again, as a page does after an event. */
  refetch(): Promise<unknown>;
  loadMore(): Promise<unknown>;
  hasMore(): boolean;
  /** The hashes that the page shows. */
  shown(): readonly string[];
};

type Open = (url: string, address: string) => Promise<List>;

const byApollo: Open = async (url, address) => {
  const client = new ApolloClient({
    link: new HttpLink({ uri: `${url}/graphql` }),
    cache: new InMemoryCache(apolloCacheOptions),
  });
  const options = { query: WalletTransactions, variables: { address } };
  const watched = client.watchQuery({ ...options, refetchWritePolicy: 'merge' });
  watched.subscribe({});
  const list = () => client.readQuery(options)?.wallet.transactions;
  const refetch = () => watched.refetch();
  await refetch();
  return {
    refetch,
    loadMore: () => watched.fetchMore({ variables: { after: list()?.pageInfo.endCursor ?? null } }),
    hasMore: () => list()?.pageInfo.hasNextPage === true,
    shown: () => list()?.edges.flatMap((edge) => edge?.node?.hash ?? []) ?? [],
  };
};

const byUrql: Open = async (url, address) => {
  const client = new Client({
    url: `${url}/graphql`,
    preferGetMethod: false,
    exchanges: [cacheExchange(graphcacheOptions), fetchExchange],
  });
  const list = () => client.readQuery(WalletTransactions, { address })?.data?.wallet.transactions;
  const refetch = async () =>
    client.query(WalletTransactions, { address }, { requestPolicy: 'network-only' });
  await refetch();
  return {
    refetch,
    loadMore: async () =>
      client.query(WalletTransactions, { address, after: list()?.pageInfo.endCursor ?? null }),
    hasMore: () => list()?.pageInfo.hasNextPage === true,
    shown: () => list()?.edges.flatMap((edge) => edge?.node?.hash ?? []) ?? [],
  };
};

const RELAY = `graphql\`
  fragment list_wallet on Wallet
  @refetchable(queryName: "listPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }) {
    transactions(first: $count, after: $cursor) @connection(key: "list_transactions") { edges { node { hash } } }
  }
\`;
graphql\`query listQuery($address: Address!) { wallet(address: $address) { id ...list_wallet } }\`;
`;

let folder: Awaited<ReturnType<typeof folderOf>>;
let compiled: <Artifact>(name: string) => Artifact;

beforeAll(async () => {
  folder = await folderOf({});
  await mkdir(folder.path('src'));
  await cp(join(root, 'schema.graphql'), folder.path('schema.graphql'));
  await writeFile(folder.path('src/list.js'), RELAY);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: false };
  await writeFile(folder.path('relay.config.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: folder.path('.') });
  const load = createRequire(folder.path('src/'));
  compiled = (name) => load(`./__generated__/${name}.graphql.js`);
});

afterAll(() => folder[Symbol.asyncDispose]());

type Connection = {
  edges: readonly ({ node: { hash: string } | null } | null)[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
};

const openRelay = async (url: string, address: string, most?: number): Promise<List> => {
  const ask: FetchFunction = async ({ text }, variables) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    });
    return response.json();
  };
  const environment = new Environment({
    handlerProvider: keepPages(DefaultHandlerProvider, most),
    network: Network.create(ask),
    store: new Store(new RecordSource()),
  });
  const query = createOperationDescriptor(compiled<ConcreteRequest>('listQuery'), { address });
  environment.retain(query);
  const refetch = async () =>
    fetchQuery(environment, query.request.node, query.request.variables).toPromise();
  await refetch();
  const { wallet } = environment.lookup(query.fragment).data as { wallet: { id: string } };
  const list = (): Connection => {
    const selector = getSingularSelector(compiled<ReaderFragment>('list_wallet'), wallet);
    if (!selector) throw new Error('expected the wallet, got nothing');
    return (environment.lookup(selector).data as { transactions: Connection }).transactions;
  };
  return {
    refetch,
    loadMore: async () =>
      fetchQuery(environment, compiled<ConcreteRequest>('listPageQuery'), {
        id: wallet.id,
        count: 20,
        cursor: list().pageInfo.endCursor,
      }).toPromise(),
    hasMore: () => list().pageInfo.hasNextPage,
    shown: () => list().edges.flatMap((edge) => edge?.node?.hash ?? []),
  };
};

const LIBRARIES: readonly (readonly [name: string, open: Open])[] = [
  ['Apollo Client', byApollo],
  ['urql', byUrql],
  ['Relay', (url, address) => openRelay(url, address)],
];

/** A wallet with so many transactions, and a list of it. */
const startWallet = async (count: number, open: Open) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0' }));
  const address = freshAddress();
  const has = (transactions: ReturnType<typeof history>) => {
    fake.transactions.set(address, servingTransactions(transactions));
    return transactions.map(({ hash }) => hash);
  };
  has(history(count));
  const list = await open(gateway.url, address);
  const kept = made.move();
  return { ...list, has, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

test.each(LIBRARIES)(
  '%s keeps 77 loaded rows when newer ones appear on top, again and again',
  async (_name, open) => {
    await using wallet = await startWallet(77, open);
    while (wallet.hasMore()) await wallet.loadMore();
    expect(wallet.shown()).toHaveLength(77);
    for (const count of [78, 83, 100]) {
      const hashes = wallet.has(history(count));
      await wallet.refetch();
      expect(wallet.shown()).toEqual(hashes);
      expect(wallet.hasMore()).toBe(false);
    }
  },
);

test.each(LIBRARIES)('%s has no gap at the seam, and goes on below what is loaded', async (_name, open) => {
  await using wallet = await startWallet(100, open);
  await wallet.loadMore();
  await wallet.loadMore();
  expect(wallet.shown()).toHaveLength(60);
  const hashes = wallet.has(history(118));
  await wallet.refetch();
  expect(wallet.shown()).toEqual(hashes.slice(0, 78));
  await Promise.all([wallet.loadMore(), wallet.refetch()]);
  expect(wallet.shown()).toEqual(hashes.slice(0, 98));
  while (wallet.hasMore()) await wallet.loadMore();
  expect(wallet.shown()).toEqual(hashes);
});

test.each(LIBRARIES)(
  '%s begins anew where more have come than a page has, and pages to the end',
  async (_name, open) => {
    await using wallet = await startWallet(60, open);
    while (wallet.hasMore()) await wallet.loadMore();
    const hashes = wallet.has(history(90));
    await wallet.refetch();
    expect(wallet.shown()).toEqual(hashes.slice(0, 20));
    while (wallet.hasMore()) await wallet.loadMore();
    expect(wallet.shown()).toEqual(hashes);
  },
);

test.each(LIBRARIES)(
  '%s shows no transaction that a reorg has taken from the first page',
  async (_name, open) => {
    await using wallet = await startWallet(50, open);
    while (wallet.hasMore()) await wallet.loadMore();
    const hashes = wallet.has(history(52).toSpliced(4, 1));
    await wallet.refetch();
    expect(wallet.shown()).toEqual(hashes);
  },
);

test('a list that grows on top is cut at its end, and is loaded again from there', async () => {
  await using wallet = await startWallet(50, (url, address) => openRelay(url, address, 45));
  while (wallet.hasMore()) await wallet.loadMore();
  expect(wallet.shown()).toHaveLength(50);
  const hashes = wallet.has(history(55));
  await wallet.refetch();
  expect([wallet.shown(), wallet.hasMore()]).toEqual([hashes.slice(0, 45), true]);
  await wallet.loadMore();
  expect(wallet.shown()).toEqual(hashes);
});

test('Graphcache warns of nothing in the documents of the package, swaps and their sides among it', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const items = Array.from({ length: 30 }, (_, place) => sampleOf(activity).item(30 - place));
  fake.scriptsOf(activity).set(address, serving(activity, items));
  const warned: unknown[] = [];
  const client = new Client({
    url: `${gateway.url}/graphql`,
    preferGetMethod: false,
    exchanges: [
      cacheExchange({
        ...graphcacheOptions,
        logger: (level, message) => level !== 'debug' && warned.push(message),
      }),
      fetchExchange,
    ],
  });
  const consoleWarn = vi.spyOn(console, 'warn').mockImplementation((...words) => void warned.push(words));
  const overview = await client.query(WalletOverview, { address });
  expect(overview.error).toBeUndefined();
  const after = overview.data?.wallet.activity?.pageInfo.endCursor ?? null;
  const { data } = await client.query(WalletActivity, { address, after });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const body = balanceChange(address, `0x${'a'.repeat(40)}`, '5');
  expect(await deliver(deliveryUrl, { type: 'balances', chainId: 1, body })).toBe(200);
  expect(await deliver(deliveryUrl, { type: 'activities', body: activityDelivered(1, address) })).toBe(200);
  const stored = await client.query(WalletDeliveries, { address });
  const types = stored.data?.deliveries?.nodes.flatMap((node) => node?.events ?? []);
  expect(types?.map(({ __typename }) => __typename)).toEqual(['BalanceChange', 'Activity']);
  consoleWarn.mockRestore();
  expect(data?.wallet.activity?.edges.map((edge) => edge?.node?.transactionHash)).toEqual(
    items.map(({ tx_hash }) => tx_hash),
  );
  expect(items.length).toBeGreaterThan(20);
  // Without a schema it looks for the fields of each fragment on a union in every event, and says so while developing.
  const others = warned.filter((said) => !String(said).includes('Invalid undefined: The field at'));
  expect(others).toEqual([]);
  expect(warned.length - others.length).toBeLessThan(20);
});
