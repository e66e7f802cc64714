import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, fetchExchange, gql as urqlGql } from '@urql/core';
import { createClient } from 'graphql-ws';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  Environment,
  getSingularSelector,
  Network,
  type ReaderFragment,
  RecordSource,
  Store,
} from 'relay-runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { fetchInParts } from '../../../examples/incremental/relay.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { startPortfolio } from '../../support/lookups/portfolio.ts';
import { hashOf } from '../../support/upstream/builders.ts';

/** The parts of answers, as the clients' own code reads them. */

const root = join(import.meta.dirname, '../../..');

type Wallet = { transactions?: { edges?: { node: { hash: string } }[]; nodes?: { hash: string }[] } };
type Portfolio = { quick: Wallet; slow: Wallet };

/** The quick wallet at once, and 300 transactions of the slow one as they come. */
const DOCUMENT = `query ($quick: Address!, $slow: Address!) {
  quick: wallet(address: $quick) { id transactions(first: 2) { edges { node { id hash } } } }
  slow: wallet(address: $slow) { id ... @defer {
    transactions(first: 1000) { edges @stream(initialCount: 20) { node { id hash } } }
  } }
}`;

const HASHES = Array.from({ length: 300 }, (_, index) => hashOf(300 - index));
const hashesOf = (wallet: Wallet | undefined) =>
  wallet?.transactions?.edges?.map(({ node }) => node.hash) ?? [];

/** What a client has shown: the number of transactions of the slow wallet, each time. */
const growthOf = (shown: readonly (Portfolio | undefined)[]) =>
  shown.map((data) => hashesOf(data?.slow).length);

const overHttp = (url: string) => new HttpLink({ uri: `${url}/graphql` });
const overWebSocket = (url: string) =>
  new GraphQLWsLink(createClient({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket }));

test.each([
  ['Defer20220824Handler', 'HTTP', overHttp, new Defer20220824Handler()],
  // Its type and that of the option differ under exactOptionalPropertyTypes.
  [
    'GraphQL17Alpha9Handler',
    'HTTP',
    overHttp,
    new GraphQL17Alpha9Handler() as unknown as Defer20220824Handler,
  ],
  ['Defer20220824Handler', 'a WebSocket', overWebSocket, new Defer20220824Handler()],
] as const)(
  "Apollo's %s over %s shows the quick wallet first, and all of the slow one then",
  async (_name, _by, linkOf, incrementalHandler) => {
    await using portfolio = await startPortfolio();
    const { gateway, variables } = portfolio;
    const client = new ApolloClient({
      link: linkOf(gateway.url),
      cache: new InMemoryCache(),
      incrementalHandler,
    });
    const shown: (Portfolio | undefined)[] = [];
    let isLoading = true;
    const subscription = client
      .watchQuery<Portfolio>({ query: gql(DOCUMENT), variables })
      .subscribe((result) => {
        expect(result.error).toBeUndefined();
        if (result.data) shown.push(structuredClone(result.data) as Portfolio);
        isLoading = result.loading;
      });
    await eventually(() => shown.length === 1);
    expect(hashesOf(shown[0]?.quick)).toHaveLength(2);
    expect(hashesOf(shown[0]?.slow)).toEqual([]);
    portfolio.release();
    await eventually(
      () => !isLoading && hashesOf(shown.at(-1)?.slow).length === 300,
      () => growthOf(shown),
    );
    expect(hashesOf(shown.at(-1)?.slow)).toEqual(HASHES);
    expect(shown.length).toBeGreaterThan(2);
    subscription.unsubscribe();
    client.stop();
  },
);

test.each([
  ['GET', undefined],
  ['POST', false],
] as const)(
  'urql by %s shows the quick wallet first, and all of the slow one then',
  async (_method, preferGetMethod) => {
    await using portfolio = await startPortfolio();
    const { gateway, variables } = portfolio;
    const client = new Client({
      url: `${gateway.url}/graphql`,
      exchanges: [fetchExchange],
      ...(preferGetMethod === false && { preferGetMethod }),
    });
    const shown: (Portfolio | undefined)[] = [];
    let extensions: unknown;
    let hasNext = true;
    const { unsubscribe } = client.query<Portfolio>(urqlGql(DOCUMENT), variables).subscribe((result) => {
      expect(result.error).toBeUndefined();
      shown.push(structuredClone(result.data));
      ({ extensions, hasNext } = { extensions: result.extensions, hasNext: result.hasNext });
    });
    await eventually(() => shown.length === 1);
    expect(hashesOf(shown[0]?.quick)).toHaveLength(2);
    expect(hashesOf(shown[0]?.slow)).toEqual([]);
    portfolio.release();
    await eventually(
      () => !hasNext,
      () => growthOf(shown),
    );
    expect(hashesOf(shown.at(-1)?.slow)).toEqual(HASHES);
    expect(extensions).toMatchObject({ upstream: { requests: 4, computeUnits: 4 } });
    unsubscribe();
  },
);

const RELAY_DOCUMENTS = `graphql\`
  fragment portfolioSlow_wallet on Wallet {
    transactions(first: 1000) @stream_connection(key: "portfolioSlow_transactions", initial_count: 20) {
      edges { node { id hash } }
    }
  }
\`;
graphql\`
  query portfolioQuery($quick: Address!, $slow: Address!) {
    quick: wallet(address: $quick) { id transactions(first: 2) { edges { node { id hash } } } }
    slow: wallet(address: $slow) { id ...portfolioSlow_wallet @defer }
  }
\`;
`;

let folder: string;
let compiled: <Artifact>(name: string) => Artifact;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'relay-parts-'));
  await mkdir(join(folder, 'src'));
  await cp(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  await writeFile(join(folder, 'src/portfolio.js'), RELAY_DOCUMENTS);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: false };
  await writeFile(join(folder, 'relay.config.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: folder });
  const load = createRequire(join(folder, 'src/'));
  compiled = (name) => load(`./__generated__/${name}.graphql.js`);
});

afterAll(() => rm(folder, { recursive: true }));

test('Relay shows the quick wallet first, and the slow one as a streamed connection with its pageInfo', async () => {
  await using portfolio = await startPortfolio();
  const { gateway, variables } = portfolio;
  const environment = new Environment({
    network: Network.create(fetchInParts(gateway.url)),
    store: new Store(new RecordSource()),
  });
  const request = compiled<ConcreteRequest>('portfolioQuery');
  expect(request.params.text).toMatch(/@stream\(label: "[^"]+", initialCount: 20\)/);
  const operation = createOperationDescriptor(request, variables);
  environment.retain(operation);
  const read = () => environment.lookup(operation.fragment).data as unknown as Portfolio | undefined;
  const readSlow = () => {
    const selector = getSingularSelector(compiled<ReaderFragment>('portfolioSlow_wallet'), read()?.slow);
    return (
      selector && (environment.lookup(selector).data as Wallet & { transactions?: { pageInfo: unknown } })
    );
  };
  const shown: number[] = [];
  const failures: unknown[] = [];
  let isComplete = false;
  environment.execute({ operation }).subscribe({
    next: () => void shown.push(hashesOf(readSlow() ?? undefined).length),
    error: (error: unknown) => void failures.push(error),
    complete: () => {
      isComplete = true;
    },
  });
  await eventually(() => shown.length === 1 || failures.length > 0);
  expect(failures).toEqual([]);
  expect(hashesOf(read()?.quick)).toHaveLength(2);
  expect(shown).toEqual([0]);
  portfolio.release();
  await eventually(() => isComplete || failures.length > 0);
  expect(failures).toEqual([]);
  expect(hashesOf(readSlow() ?? undefined)).toEqual(HASHES);
  expect(readSlow()?.transactions?.pageInfo).toMatchObject({
    hasNextPage: false,
    endCursor: expect.any(String),
  });
  expect(shown).toContain(20);
});
