import { isObjectType } from 'graphql';
import { expect, test, vi } from 'vitest';
import { DEMO_SUBSCRIBERS, demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { DEMO_WEBHOOKS } from '../../src/backend/sandbox/sandbox.ts';
import { schema } from '../../src/schema.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from '../backend/indexer/support/contracts.ts';
import { openSandbox } from '../backend/support/sandbox.ts';
import {
  type Arguments,
  type Path,
  pathsFrom,
  Records,
  walk,
  wholeSelection,
} from '../support/clients/id-walk.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { readersToBe } from '../support/gateway/wait-for-readers.ts';

/**
 * An id is a promise to caches: whatever path leads to it, its fields have the same values at the same time, or a client
 * with a normalised cache shows what another query has written over.
 */

/** A walk costs what it costs. */
const ROOMY = { MAX_COMPUTE_UNITS: '1000000000', MAX_ANSWER_MB: '256' };

/** Paths that lead to what others lead to as well, or to nothing that is kept. */
const SKIPPED = new Set([
  'Query.node',
  'Query.nodes',
  // Those of the lists are asked for by their hashes: see `byHash`.
  'Query.transaction',
  'WebhookDeliveryConnection.edges',
  'WebhookDelivery.payload',
]);

const argumentsFor = (
  [wallet = '', ...others]: readonly string[],
  chainId: number,
  webhookId: string,
): Arguments => ({
  'Query.wallet': `address: "${wallet}"`,
  'Query.wallets': `addresses: ${JSON.stringify([wallet, ...others])}`,
  'Query.chain': `chainId: ${chainId}`,
  'Query.token': `token: { nativeOf: ${chainId} }`,
  'Query.tokens': `tokens: [{ nativeOf: ${chainId} }]`,
  'Query.searchTokens': 'query: "coin"',
  'Query.webhook': `webhookId: "${webhookId}"`,
  'Query.node': 'id: ""',
  'Query.nodes': 'ids: []',
  'Wallet.balance': `token: { nativeOf: ${chainId} }`,
  'Wallet.deliveries': 'last: 50',
  'Query.deliveries': 'last: 50',
  'Webhook.deliveries': 'last: 50',
  'Balance.priceHistory': 'hoursAgo: [24]',
  'TokenMarket.priceHistory': 'hoursAgo: [24]',
});

const chunksOf = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

/** The documents that refetch what was found by its id. */
const refetches = (records: Records, args: Arguments): readonly Path[] =>
  ['Token', 'Balance', 'Wallet', 'Webhook', 'WebhookDelivery'].flatMap((name) => {
    const type = schema.getType(name);
    if (!isObjectType(type)) return [];
    return chunksOf(records.idsOf(name).slice(0, 150), 50).flatMap((ids): readonly Path[] => {
      const of = (field: string, names: string) => ({
        name: `${field} (${name})`,
        type,
        document: `{ ${field}(${names}) { ... on ${name} { ${wholeSelection(type, args)} } } }`,
      });
      const tokens = `tokens: [${ids.map((id) => `{ id: "${id}" }`).join()}]`;
      return [
        of('nodes', `ids: ${JSON.stringify(ids)}`),
        of('node', `id: ${JSON.stringify(ids[0])}`),
        ...(name === 'Token' ? [of('tokens', tokens)] : []),
      ];
    });
  });

/** The balances that were found, each asked for alone. */
const singles = (wallet: string, records: Records, args: Arguments): readonly Path[] =>
  records
    .idsOf('Token')
    .slice(0, 60)
    .map((id) => {
      const type = schema.getType('Balance');
      if (!isObjectType(type)) throw new TypeError('Expected a type Balance.');
      const document = `{ wallet(address: "${wallet}") { balance(token: { id: "${id}" }) { ${wholeSelection(type, args)} } } }`;
      return { name: 'wallet.balance', type, document };
    });

type Listed = { readonly transactions: { readonly nodes: readonly { chainId: number; hash: string }[] } };

/** The newest transactions of wallets, each asked for alone. */
const byHash = async (
  gateway: Gateway,
  wallets: readonly string[],
  args: Arguments,
): Promise<readonly Path[]> => {
  const type = schema.getType('Transaction');
  if (!isObjectType(type)) throw new TypeError('Expected a type Transaction.');
  const { wallets: read } = await gateway.data<{ wallets: readonly Listed[] }>(
    'query ($wallets: [Address!]!) { wallets(addresses: $wallets) { transactions { nodes { chainId hash } } } }',
    { wallets },
  );
  return read
    .flatMap(({ transactions }) => transactions.nodes)
    .map(({ chainId, hash }) => ({
      name: 'transaction',
      type,
      document: `{ transaction(chainId: ${chainId}, hash: "${hash}") { ${wholeSelection(type, args)} } }`,
    }));
};

const deliveredTo = async ({ data }: Pick<Gateway, 'data'>): Promise<number> => {
  const { deliveries } = await data<{ deliveries: { nodes: { id: string }[] } }>(
    '{ deliveries(last: 1000) { nodes { id } } }',
  );
  return deliveries.nodes.length;
};

/** Waits until no delivery has come for some time, and returns their number. */
const untilDelivered = (gateway: Gateway, least: number): Promise<number> => {
  let known = -1;
  return vi.waitFor(
    async () => {
      const count = await deliveredTo(gateway);
      const wasKnown = count === known;
      known = count;
      expect(count).toBeGreaterThanOrEqual(least);
      expect(wasKnown).toBe(true);
      return count;
    },
    { timeout: 120_000, interval: 1_000 },
  );
};

/** Subscribes by the documents of all paths of events, over WebSocket: event streams carry the same bytes, as another test shows. */
const listen = (gateway: Gateway, args: Arguments) => {
  const feeds = pathsFrom('subscription', args, SKIPPED).map(({ name, document }) => ({
    name: `subscription ${name}`,
    feed: subscribe(gateway.url, { query: document.replace('way: deliveries', 'deliveries') }),
  }));
  return {
    count: feeds.length,
    /** Ends once each has heard of so many deliveries. Returns the errors. */
    async end(records: Records, deliveries: number): Promise<readonly string[]> {
      await eventually(() =>
        feeds.every(({ feed }) => feed.edges.length >= deliveries || feed.faults.length > 0),
      );
      for (const { name, feed } of feeds) records.add(name, feed.edges);
      await Promise.all(feeds.map(({ feed }) => feed[Symbol.asyncDispose]()));
      return feeds.flatMap(({ name, feed }) => feed.faults.map(({ message }) => `${name}: ${message}`));
    },
  };
};

/** Reads everything on every path. Returns the errors. */
const readAll = async (
  gateway: Gateway,
  args: Arguments,
  wallets: readonly string[],
  records: Records,
): Promise<readonly string[]> => [
  ...(await walk(pathsFrom('query', args, SKIPPED), records, gateway.query)),
  ...(await walk(
    wallets.flatMap((wallet) => singles(wallet, records, args)),
    records,
    gateway.query,
  )),
  ...(await walk(await byHash(gateway, wallets, args), records, gateway.query)),
  ...(await walk(refetches(records, args), records, gateway.query)),
];

type Activity = { id: string; typeName: string; transactionHash: string; wallet: { address: string } };
const ACTIVITY = '__typename ... on Activity { id typeName transactionHash wallet { address } }';

/** All activities of wallets on chains, and those that were delivered. */
const activitiesOf = async (
  gateway: Gateway,
  wallets: readonly string[],
  chainIds: readonly number[],
): Promise<{ readonly listed: readonly Activity[]; readonly delivered: readonly Activity[] }> => {
  const { wallets: read, deliveries } = await gateway.data<{
    wallets: { activity: { nodes: Activity[] } }[];
    deliveries: { nodes: { events: (Activity & { __typename: string })[] }[] };
  }>(
    `query ($wallets: [Address!]!, $chainIds: [ChainId!]) {
      wallets(addresses: $wallets) { activity(first: 1000, chainIds: $chainIds) { nodes { ${ACTIVITY} } } }
      deliveries(last: 200) { nodes { events { ${ACTIVITY} } } }
    }`,
    { wallets, chainIds },
  );
  const events = deliveries.nodes.flatMap((delivery) => delivery.events);
  return {
    listed: read.flatMap(({ activity }) => activity.nodes),
    delivered: events.filter(({ __typename }) => __typename === 'Activity'),
  };
};

const idsOf = (things: readonly { readonly id: string }[]): readonly string[] => things.map(({ id }) => id);

/** Two different things never have one id, and one thing never has two. */
const expectOneIdEach = ({ listed, delivered }: Awaited<ReturnType<typeof activitiesOf>>): void => {
  expect(new Set(idsOf(listed)).size).toBe(listed.length);
  expect(new Set(idsOf(delivered)).size).toBe(delivered.length);
  const known = new Map(listed.map((activity) => [activity.id, activity]));
  for (const activity of delivered) expect(known.get(activity.id)).toEqual(activity);
};

/** A lookup that a chain does not have is an error, which is no value. */
const unexpected = (faults: readonly string[]): readonly string[] =>
  faults.filter((fault) => !fault.includes('Expected chains that the service supports for'));

/**
 * Fields that may differ, each with the reason. There are none: what one path can't say is not on a type with an id, or the
 * other paths say it for it.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

const differencesIn = (records: Records) =>
  Object.entries(records.differences()).filter(([coordinate]) => !(coordinate in EXCEPTIONS));

const SEEN = [
  'Activity',
  'Balance',
  'Collectible',
  'Token',
  'Transaction',
  'Wallet',
  'Webhook',
  'WebhookDelivery',
];

// It takes some seconds: it makes each of some hundred ways through the schema.
test('over the sandbox, every path to an id gives its fields the same values', async () => {
  await using sandbox = await openSandbox();
  await using gateway = await startGateway(
    { ...ROOMY, UPSTREAM_URL: sandbox.url, UPSTREAM_API_KEY: sandbox.apiKey },
    { readsChains: true },
  );
  const args = argumentsFor([demoAddress('metronome'), demoAddress('defi')], 1, DEMO_WEBHOOKS[0].id);
  const events = listen(gateway, args);
  await readersToBe(gateway.url, events.count);
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  sandbox.connectDemo(deliveryUrl);
  for (let count = 0; count < 3; count += 1) sandbox.tick();
  const delivered = await untilDelivered(gateway, 10);

  const records = new Records();
  const faults = [
    ...(await events.end(records, delivered)),
    ...(await readAll(gateway, args, [demoAddress('metronome'), demoAddress('receiver')], records)),
  ];
  expect(unexpected(faults)).toEqual([]);
  for (const typename of [...SEEN, 'DefiPosition']) expect(records.pathsTo(typename).size).toBeGreaterThan(1);
  expect(differencesIn(records)).toEqual([]);
  const live = sandbox.simulator.chains.filter(({ webhooks }) => webhooks).map(({ id }) => id);
  expectOneIdEach(await activitiesOf(gateway, DEMO_SUBSCRIBERS, live));
});

const CHAIN = 31_338;

test("over a chain of one's own, every path to an id gives its fields the same values", async () => {
  await using anvil = await startAnvil({ args: ['--chain-id', String(CHAIN)] });
  const [owner = '0x', friend = '0x', other = '0x'] = await accountsOf(anvil.url);
  await using gateway = await startGateway(
    { ...ROOMY, CHAINS: `${CHAIN}=${anvil.url}`, EXTRA_CHAINS: `${CHAIN}:mychain:POL:default:mine` },
    { readsChains: true },
  );
  const watched: { webhooks: { webhookId: string }[] }[] = [];
  for (const address of [owner, friend, other]) {
    const { watchWallet } = await gateway.data<{ watchWallet: { watchedWallet: (typeof watched)[number] } }>(
      `mutation { watchWallet(input: { address: "${address}" }) {
        ... on WatchWalletPayload { watchedWallet { webhooks { webhookId } } }
      } }`,
    );
    watched.push(watchWallet.watchedWallet);
  }
  const args = argumentsFor([owner, friend], CHAIN, String(watched[0]?.webhooks[0]?.webhookId));
  const events = listen(gateway, args);
  await readersToBe(gateway.url, events.count);

  const coin = await deploy(anvil.url, 'Coin', ['Gold Coin', 'GOLD', 6]);
  const art = await deploy(anvil.url, 'Art', ['Pictures', 'ART']);
  const items = await deploy(anvil.url, 'Items', ['https://items.example/{id}']);
  const payer = await deploy(anvil.url, 'Payer');
  await coin.mine('mint', [owner, 1_000_000n]);
  await coin.mine('transfer', [friend, 5n]);
  await coin.mine('approve', [friend, 7n]);
  await art.mine('mint', [owner, 1n, 'ipfs://one']);
  await art.mine('mint', [owner, 2n, 'ipfs://two']);
  await art.mine('transferFrom', [owner, friend, 1n]);
  await items.mine('mintBatch', [owner, [1n, 2n], [10n, 20n]]);
  // Equal payments to two wallets, and two to one, in one transaction.
  await payer.mine('split', [[friend, other, friend]], { value: 30n });
  await receiptOf(anvil.url, await sendTransaction(anvil.url, friend, '0x', { value: 1n }));
  const head = await anvil.head();
  await vi.waitFor(async () => {
    const { chain } = await gateway.data<{
      chain: { index: { to: string; traces: { behind: string } } | null };
    }>(`{ chain(chainId: ${CHAIN}) { index { to traces { behind } } } }`);
    expect(chain.index).toEqual({ to: String(head), traces: { behind: '0' } });
  }, 60_000);
  const delivered = await untilDelivered(gateway, 20);

  const records = new Records();
  const faults = [
    ...(await events.end(records, delivered)),
    ...(await readAll(gateway, args, [owner, friend], records)),
  ];
  expect(unexpected(faults)).toEqual([]);
  for (const typename of SEEN) expect(records.pathsTo(typename).size).toBeGreaterThan(1);
  expect(differencesIn(records)).toEqual([]);
  const activities = await activitiesOf(gateway, [owner, friend, other], [CHAIN]);
  expectOneIdEach(activities);
  expect(activities.delivered.length).toBe(activities.listed.length);
  const { wallet } = await gateway.data<{ wallet: object }>(
    `{ wallet(address: "${owner}") {
      transactions(chainTags: ["mine"], first: 1) { nodes { chain chainId } }
      activity(types: [SEND], first: 1) { nodes { token { isNative symbol name decimals chain } } }
    } }`,
  );
  expect(wallet).toEqual({
    transactions: { nodes: [{ chain: 'mychain', chainId: CHAIN }] },
    activity: {
      nodes: [{ token: { isNative: true, symbol: 'POL', name: 'POL', decimals: 18, chain: 'mychain' } }],
    },
  });
});
