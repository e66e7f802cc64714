import { expect, test } from 'vitest';
import { listenTo, message, subscribeMessage } from '../support/clients/raw-socket.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { startGateway } from '../support/gateway/start.ts';
import { freshAddress, history } from '../support/upstream/builders.ts';
import { type Answer, type SeenRequest, startFakeService } from '../support/upstream/fake-service.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';
import { idOf } from '../webhooks/support/rest.ts';

/** Over WebSocket a query or a mutation that its client completes is as one whose HTTP request was closed. */

/** So that a request which ends before does not end by itself. */
const patient = { UPSTREAM_TIMEOUT_MS: '60000' };

const silent: Answer = () => ({ silent: true });

const walletQuery = (address: string) =>
  `{ wallet(address: "${address}") { transactions { nodes { hash } } } }`;

const ask = (address: string, id = '1') => subscribeMessage(walletQuery(address), {}, id);

const complete = (id = '1') => message({ id, type: 'complete' });

type Client = Awaited<ReturnType<typeof listenTo>>;

/** What was written before has been read by then, and what it came to was told. */
const heardOut = async ({ write, received }: Client): Promise<void> => {
  const pongs = () => received.filter(({ type }) => type === 'pong').length;
  const before = pongs();
  write(message({ type: 'ping' }));
  await eventually(() => pongs() > before);
};

const typesOf = (client: Client, id: string) =>
  client.received.filter((one) => one.id === id).map(({ type }) => type);

const abandoned = ({ requests }: { readonly requests: readonly SeenRequest[] }) =>
  requests.map((request) => request.abandoned);

test('a query that is completed is aborted, and says nothing any more', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const address = freshAddress();
  fake.transactions.set(address, silent);
  using client = await listenTo(gateway);
  client.write(ask(address));
  await eventually(() => fake.requests.length === 1);
  client.write(complete());
  await eventually(() => abandoned(fake)[0] === true);
  await heardOut(client);
  expect(client.received).toEqual([{ type: 'pong' }]);
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_operations_total', { type: 'query', code: 'ABANDONED' })).toBe(1);
});

test('the id of a query that was completed is at once of the next one alone', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...patient });
  const [slow, quick] = [freshAddress(), freshAddress()];
  fake.transactions.set(slow, silent);
  fake.transactions.set(quick, servingTransactions(history(2)));
  using client = await listenTo(gateway);
  // Completed in preparation, and under way.
  client.write(ask(slow), complete(), ask(slow));
  await eventually(() => fake.requestsFor(slow).length > 0);
  client.write(complete(), ask(quick));
  await eventually(() => typesOf(client, '1').includes('complete'));
  await eventually(() => fake.requestsFor(slow).every((request) => request.abandoned));
  await heardOut(client);
  expect(typesOf(client, '1')).toEqual(['next', 'complete']);
  expect(client.received[0]).toMatchObject({
    payload: { data: { wallet: { transactions: { nodes: [{}, {}] } } } },
  });
});

test('a request that two sockets wait for goes on when one completes, and ends with the other', async () => {
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
  await heardOut(two);
  one.write(complete('shared'), complete('other'));
  await heardOut(one);
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

test('of a mutation that is completed, what was sent comes to its end and the rest is not sent', async () => {
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
  // What would be aborted is by then.
  await eventually(() => abandoned(fake).includes(true));
  released.resolve();
  const abandonedMutations = async () =>
    (await scrape(gateway.url)).sum('gateway_operations_total', { type: 'mutation', code: 'ABANDONED' });
  await expect.poll(abandonedMutations, { timeout: 30_000 }).toBe(1);
  const patches = fake.requests.filter(({ method }) => method === 'PATCH');
  expect(patches.map((patch) => patch.abandoned)).toEqual([false]);
  expect(patches[0]?.path).toContain(idOf(1));
  await heardOut(client);
  expect(client.received).toEqual([{ type: 'pong' }]);
});

test('operations that were completed count no longer, and wait for no turn', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_CONNECTIONS: '1', ...patient });
  using client = await listenTo(gateway);
  const wallets = Array.from({ length: 101 }, (_, index) => ({ id: `${index}`, address: freshAddress() }));
  for (const { address } of wallets) fake.transactions.set(address, silent);
  for (const round of [1, 2, 3]) {
    // The last one is one too many.
    client.write(...wallets.map(({ id, address }) => ask(address, id)));
    await eventually(() => typesOf(client, '100').length === round);
    await eventually(() => fake.requests.length === round);
    // Those that wait for a turn first: none may come to have it.
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
