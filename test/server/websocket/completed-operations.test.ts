import { expect, test } from 'vitest';
import { listenTo, message, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { type Answer, type SeenRequest, startFakeService } from '../../support/upstream/fake-service.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';
import { idOf } from '../../webhooks/support/rest.ts';

/** A query or mutation that a WebSocket's client completes is cancelled, as one whose HTTP request is closed. */

/** Longer than any test: a request that ends was aborted, and did not time out. */
const patient = { UPSTREAM_TIMEOUT_MS: '60000' };

const silent: Answer = () => ({ silent: true });

const walletQuery = (address: string) =>
  `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;

const ask = (address: string, id = '1') => subscribeMessage(walletQuery(address), {}, id);

const complete = (id = '1') => message({ id, type: 'complete' });

type Client = Awaited<ReturnType<typeof listenTo>>;

/** Resolves when the gateway has read all earlier messages, and the client has received the answers to them. */
const roundTrip = async ({ write, received }: Client): Promise<void> => {
  const pongs = () => received.filter(({ type }) => type === 'pong').length;
  const before = pongs();
  write(message({ type: 'ping' }));
  await eventually(() => pongs() > before);
};

const typesOf = (client: Client, id: string) =>
  client.received.filter((one) => one.id === id).map(({ type }) => type);

const abandoned = ({ requests }: { readonly requests: readonly SeenRequest[] }) =>
  requests.map((request) => request.abandoned);

test('a query that is completed is aborted, and sends no message', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const address = freshAddress();
  fake.transactions.set(address, silent);
  using client = await listenTo(gateway);
  client.write(ask(address));
  await eventually(() => fake.requests.length === 1);
  client.write(complete());
  await eventually(() => abandoned(fake)[0] === true);
  await roundTrip(client);
  expect(client.received).toEqual([{ type: 'pong' }]);
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_operations_total', { type: 'query', code: 'ABANDONED' })).toBe(1);
});

test('the id of a completed query can be used at once, and only the new query answers', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const [slow, quick] = [freshAddress(), freshAddress()];
  fake.transactions.set(slow, silent);
  fake.transactions.set(quick, servingTransactions(history(2)));
  using client = await listenTo(gateway);
  // One query is completed while it is prepared, the other while it runs.
  client.write(ask(slow), complete(), ask(slow));
  await eventually(() => fake.requestsFor(slow).length > 0);
  client.write(complete(), ask(quick));
  await eventually(() => typesOf(client, '1').includes('complete'));
  await eventually(() => fake.requestsFor(slow).every((request) => request.abandoned));
  await roundTrip(client);
  expect(typesOf(client, '1')).toEqual(['next', 'complete']);
  expect(client.received[0]).toMatchObject({
    payload: { data: { wallet: { transactions: { nodes: [{}, {}] } } } },
  });
});

test('a coalesced request of two sockets continues when one completes its query, and is aborted when both have', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const [shared, other] = [freshAddress(), freshAddress()];
  const released = Promise.withResolvers<void>();
  const serve = servingTransactions(history(2));
  const held: Answer = async (request) => {
    await released.promise;
    return serve(request);
  };
  fake.transactions.set(shared, held);
  fake.transactions.set(other, silent);
  using one = await listenTo(gateway);
  using two = await listenTo(gateway);
  one.write(ask(shared, 'shared'), ask(other, 'other'));
  await eventually(() => fake.requests.length === 2);
  two.write(ask(shared, 'shared'), ask(other, 'other'));
  await roundTrip(two);
  one.write(complete('shared'), complete('other'));
  await roundTrip(one);
  two.write(complete('other'));
  await eventually(() => fake.requestsFor(other)[0]?.abandoned === true);
  expect(fake.requestsFor(shared).map((request) => request.abandoned)).toEqual([false]);
  released.resolve();
  await eventually(() => typesOf(two, 'shared').length === 2);
  expect(two.received.find(({ id }) => id === 'shared')).toMatchObject({
    payload: { data: { wallet: { transactions: { nodes: [{}, {}] } } } },
  });
  expect(fake.requests).toHaveLength(2);
  expect(typesOf(one, 'shared')).toEqual([]);
});

test('of a completed mutation, the request in progress finishes and no further request is sent', async () => {
  const released = Promise.withResolvers<void>();
  const other: Answer = async ({ method }) => {
    if (method === 'PATCH') await released.promise;
    return { text: '' };
  };
  await using fake = await startFakeService({ other, transactions: silent });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  using client = await listenTo(gateway);
  const update = (number: number) =>
    `updateWebhookAddresses(input: { webhookId: "${idOf(number)}", addAddresses: ["${freshAddress()}"] })`;
  client.write(
    subscribeMessage(`mutation { a: ${update(1)} { __typename } b: ${update(2)} { __typename } }`),
    ask(freshAddress(), 'query'),
  );
  await eventually(() => fake.requests.length === 2);
  client.write(complete(), complete('query'));
  // By then the mutation's request would have been aborted too.
  await eventually(() => abandoned(fake).includes(true));
  released.resolve();
  const abandonedMutations = async () =>
    (await scrape(gateway.url)).sum('gateway_operations_total', { type: 'mutation', code: 'ABANDONED' });
  await expect.poll(abandonedMutations).toBe(1);
  const patches = fake.requests.filter(({ method }) => method === 'PATCH');
  expect(patches.map((patch) => patch.abandoned)).toEqual([false]);
  expect(patches[0]?.path).toContain(idOf(1));
  await roundTrip(client);
  expect(client.received).toEqual([{ type: 'pong' }]);
});

test('completed operations free their places on the socket and in the request queue', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_CONNECTIONS: '1', ...patient });
  using client = await listenTo(gateway);
  const wallets = Array.from({ length: 101 }, (_, index) => ({ id: `${index}`, address: freshAddress() }));
  for (const { address } of wallets) fake.transactions.set(address, silent);
  for (const round of [1, 2, 3]) {
    // The last one exceeds the limit.
    client.write(...wallets.map(({ id, address }) => ask(address, id)));
    await eventually(() => typesOf(client, '100').length === round);
    await eventually(() => fake.requests.length === round);
    // Queued ones are completed first, so that none of them is sent.
    client.write(
      ...wallets
        .slice(0, 100)
        .map(({ id }) => complete(id))
        .reverse(),
    );
    await eventually(() => abandoned(fake).every(Boolean));
  }
  const open = freshAddress();
  client.write(ask(open));
  await eventually(() => typesOf(client, '1').length === 2);
  expect(client.received.map(({ id, type }) => `${id} ${type}`)).toEqual([
    '100 error',
    '100 error',
    '100 error',
    '1 next',
    '1 complete',
  ]);
  expect(fake.requests.at(-1)?.address).toBe(open);
});
