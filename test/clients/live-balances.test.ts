import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { type Client, createClient } from 'graphql-ws';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  Environment,
  type FetchFunction,
  fetchQuery,
  type GraphQLTaggedNode,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { deliver } from '../support/clients/deliver.ts';
import { startGateway } from '../support/gateway/start.ts';
import {
  addressOf,
  balance,
  balancesEnvelope,
  freshAddress,
  nativeBalance,
} from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A delivery writes the very record that Wallet.balances reads: a rendered balance changes without a request. */

const TOKEN = addressOf(0x70ce);

const QUERY = `query liveBalancesQuery($address: Address!) {
  wallet(address: $address) { id balances(chainIds: [1]) { nodes { id amount valueUsd token { id symbol } } } }
}`;
const SUBSCRIPTION = `subscription liveBalancesSubscription {
  deliveries { cursor node { id events { __typename ... on BalanceChange { balance { id amount valueUsd } } } } }
}`;

type Data = { wallet: { balances: { nodes: { amount: string; valueUsd: string | null }[] } } };

const shownIn = (data: Data | null | undefined) =>
  data?.wallet.balances.nodes.map(({ amount, valueUsd }) => [amount, valueUsd]);

const BEFORE = [
  ['573000000', '859.5'],
  ['1500000000000000000', '4500'],
];
const AFTER = [['600000000', '900.25'], BEFORE[1]];

const start = async () => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url }));
  const address = freshAddress();
  fake.balances.set(address, () => ({
    json: balancesEnvelope([balance({ address: TOKEN }), nativeBalance()]),
  }));
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const socket = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
  });
  made.defer(() => socket.dispose());
  let queries = 0;
  const post: typeof fetch = (...request) => {
    queries += 1;
    return fetch(...request);
  };
  return {
    fake,
    address,
    socket,
    url: `${gateway.url}/graphql`,
    post,
    /** The requests of the client, and of the gateway to the service. */
    requests: () => [queries, fake.requests.length],
    /** The service tells of a change. */
    change: () =>
      deliver(deliveryUrl, {
        chainId: 1,
        body: {
          balance_changes: [
            {
              subscribed_address: address,
              amount_after: '600000000',
              price_usd: 1.5004,
              value_after_usd: 900.25,
              asset: { token_address: TOKEN },
            },
          ],
        },
      }),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

type Live = Awaited<ReturnType<typeof start>>;

/** Delivers until the subscription is open and the client shows the change. */
const showsTheChange = async ({ change }: Live, shown: () => unknown) => {
  await expect
    .poll(
      async () => {
        expect(await change()).toBe(200);
        return shown();
      },
      { interval: 200 },
    )
    .toEqual(AFTER);
};

test('Apollo shows a delivered balance without a request', async () => {
  await using live = await start();
  const client = new ApolloClient({
    link: new HttpLink({ uri: live.url, fetch: live.post }),
    cache: new InMemoryCache(),
  });
  const query = gql(QUERY);
  const variables = { address: live.address };
  const rendered: unknown[] = [];
  const watching = client
    .watchQuery<Data>({ query, variables })
    .subscribe(({ data }) => rendered.push(shownIn(data as Data | undefined)));
  await expect.poll(() => rendered.at(-1)).toEqual(BEFORE);
  const before = live.requests();
  const events = new ApolloClient({ link: new GraphQLWsLink(live.socket as Client), cache: client.cache });
  const subscription = events.subscribe({ query: gql(SUBSCRIPTION) }).subscribe({});
  await showsTheChange(live, () => rendered.at(-1));
  expect(live.requests()).toEqual(before);
  watching.unsubscribe();
  subscription.unsubscribe();
  client.stop();
  events.stop();
});

/** Compiles the documents as an app's build does. */
const compileForRelay = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relay-live-'));
  const root = join(import.meta.dirname, '../..');
  await mkdir(join(folder, 'src'));
  await cp(join(root, 'schema.graphql'), join(folder, 'schema.graphql'));
  const documents = [QUERY, SUBSCRIPTION].map((document) => `graphql\`${document}\`;`).join('\n');
  await writeFile(join(folder, 'src/liveBalances.js'), documents);
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', eagerEsModules: false };
  await writeFile(join(folder, 'relay.config.json'), JSON.stringify(config));
  const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: folder });
  const load = createRequire(join(folder, 'src/'));
  return {
    compiled: <Artifact>(name: string): Artifact => load(`./__generated__/${name}.graphql.js`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
};

test('Relay shows a delivered balance without a request', async () => {
  await using live = await start();
  await using relay = await compileForRelay();
  const ask: FetchFunction = async ({ text }, variables) => {
    const response = await live.post(live.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    });
    return JSON.parse(await response.text());
  };
  const environment = new Environment({
    network: Network.create(ask, ({ text }, variables) =>
      Observable.create((sink) =>
        live.socket.subscribe(
          { query: text ?? '', variables },
          {
            next: (result) => sink.next(result as never),
            error: (error) => sink.error(error as Error),
            complete: () => sink.complete(),
          },
        ),
      ),
    ),
    store: new Store(new RecordSource()),
  });
  const query = createOperationDescriptor(relay.compiled<ConcreteRequest>('liveBalancesQuery'), {
    address: live.address,
  });
  environment.retain(query);
  await fetchQuery(environment, query.request.node, query.request.variables).toPromise();
  const shown = () => shownIn(environment.lookup(query.fragment).data as unknown as Data);
  expect(shown()).toEqual(BEFORE);
  const before = live.requests();
  const subscription = requestSubscription(environment, {
    subscription: relay.compiled<GraphQLTaggedNode>('liveBalancesSubscription'),
    variables: {},
  });
  await showsTheChange(live, shown);
  expect(live.requests()).toEqual(before);
  subscription.dispose();
});
