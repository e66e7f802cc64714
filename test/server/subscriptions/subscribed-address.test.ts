import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { demoAddress } from '../../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startSandbox } from '../../../src/backend/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../deliveries/support/builders.ts';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { poll } from '../../support/clients/queries.ts';
import { subscribe } from '../../support/clients/subscribe.ts';
import { byKey, withKey } from '../../support/gateway/keys.ts';
import { type Gateway, heldKey, nowhere, startGateway } from '../../support/gateway/start.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { startFakeService } from '../../support/upstream/fake-service.ts';
import { change, documentOf } from '../../webhooks/support/documents.ts';
import { idOf, restWebhook } from '../../webhooks/support/rest.ts';

type Event = {
  type: string;
  assetType: string;
  transactionHash: string;
  from: string | null;
  to: string | null;
  subscribedAddress: string | null;
};

const EVENTS = `events(address: $address) {
  ... on Activity { type assetType transactionHash from to subscribedAddress }
  ... on TransactionEvent { transaction { hash } }
  ... on BalanceChange { transactionHash subscribedAddress }
}`;

/** Reads the stored events of one address, or of all. There are fewer than the thousand of a page. */
const eventsOf = async (
  gateway: Gateway,
  { address, webhookId }: { readonly address?: string; readonly webhookId?: string } = {},
  headers: Record<string, string> = {},
): Promise<Event[][]> => {
  const { deliveries } = await gateway.data<{ deliveries: { nodes: { events: Event[] }[] } }>(
    `query ($address: Address, $webhookIds: [UUID!]) {
      deliveries(first: 1000, filter: { address: $address, webhookIds: $webhookIds }) { nodes { ${EVENTS} } }
    }`,
    { address, webhookIds: webhookId && [webhookId] },
    headers,
  );
  return deliveries.nodes.map(({ events }) => events);
};

const urlOf = async (gateway: Gateway, headers: Record<string, string> = {}) =>
  (await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, headers)).deliveryUrl;

const [WALLET, OTHER, SENDER] = [addressOf(0xa1), addressOf(0xb2), addressOf(0x5e)];
const MINUTE_MS = 60_000;

/** A transfer without a recipient, whose block time is that many milliseconds from now. */
const transferBody = (number: number, inMs = 0) => {
  const { activities } = activity(number, SENDER);
  const block_time = new Date(Date.now() + inMs).toISOString();
  return { activities: activities.map((item) => ({ ...item, block_time })) };
};

/** Reads the subscribed addresses of the deliveries, in log order. */
const subscribersOf = async (gateway: Gateway, headers?: Record<string, string>) =>
  (await eventsOf(gateway, {}, headers)).flat().map(({ subscribedAddress }) => subscribedAddress);

describe('over the sandbox', () => {
  test('each event of a wallet is found by its address if the webhook has no other address', async () => {
    const now = () => Date.parse('2026-01-02T03:04:05Z');
    const sandbox = await startSandbox({ apiKey: heldKey, retryBaseMs: 1, now });
    try {
      await using gateway = await startGateway({ UPSTREAM_URL: sandbox.url });
      const [wallet, other] = [demoAddress('metronome'), demoAddress('payer')];
      const input = { name: 'wallet', type: 'ACTIVITIES' };
      const alone = await change(gateway, 'createWebhook', { ...input, addresses: [wallet] });
      const both = await change(gateway, 'createWebhook', { ...input, addresses: [wallet, other] });
      for (let block = 0; block < 50; block += 1) sandbox.mine(1);
      await sandbox.webhooks.settled();

      const incoming = (deliveries: Event[][]) =>
        deliveries.flat().filter(({ type, assetType }) => type === 'RECEIVE' && assetType === 'ERC20');
      const all = await eventsOf(gateway, { webhookId: alone.webhook.webhookId });
      const found = await eventsOf(gateway, { webhookId: alone.webhook.webhookId, address: wallet });
      expect(incoming(all).length).toBeGreaterThan(5);
      expect(found).toEqual(all);
      for (const { subscribedAddress, from, to } of found.flat()) {
        expect(subscribedAddress).toBe(wallet);
        expect([from, to]).not.toContain(wallet);
      }

      // The sandbox says in each event whose it is, as hosted services don't.
      const mixed = await eventsOf(gateway, { webhookId: both.webhook.webhookId });
      const foundOfBoth = await eventsOf(gateway, { webhookId: both.webhook.webhookId, address: wallet });
      for (const event of mixed.flat()) expect([wallet, other]).toContain(event.subscribedAddress);
      const own = foundOfBoth.flat().filter(({ subscribedAddress }) => subscribedAddress === wallet);
      expect(incoming([own])).toHaveLength(incoming(all).length);
    } finally {
      await sandbox.stop();
    }
  });
});

/** Starts an upstream that lists `addresses` for any webhook, and creates webhooks with one id. */
const startLists = async (addresses: readonly string[]) => {
  const list = { addresses };
  const service = await startFakeService({
    transactions: () => ({ json: { transactions: history(1), wallet_address: WALLET } }),
    other: ({ method, path }) => {
      if (path.endsWith('/addresses')) return method === 'GET' ? { json: { addresses: list.addresses } } : {};
      return method === 'GET' ? { json: { webhooks: [] } } : { json: restWebhook({ type: 'activities' }) };
    },
  });
  return Object.assign(service, { list });
};

describe('the subscribed address of an activity', () => {
  test('is known if its webhook has one address, and otherwise not', async () => {
    await using service = await startLists([WALLET]);
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const url = await urlOf(gateway);
    await deliver(url, { webhookId: idOf(1), body: transferBody(1) });
    service.list.addresses = [WALLET, OTHER];
    await deliver(url, { webhookId: idOf(2), body: transferBody(2) });
    service.list.addresses = [];
    await deliver(url, { webhookId: idOf(3), body: transferBody(3) });
    await deliver(url, { body: transferBody(4) });
    await deliver(url, { webhookId: idOf(1), body: transferBody(5) });
    expect(await subscribersOf(gateway)).toEqual([WALLET, null, null, null, WALLET]);
    expect(service.requests.filter(({ path }) => path.endsWith('/addresses'))).toHaveLength(3);

    // Deliveries of the other types name it, so upstream is not asked.
    await deliver(url, { webhookId: idOf(4), body: { balance_changes: [{ subscribed_address: OTHER }] } });
    await deliver(url, { webhookId: idOf(4), body: { transactions: [{ address: OTHER }] } });
    expect(service.requests.filter(({ path }) => path.endsWith('/addresses'))).toHaveLength(3);
  });

  test('is stored with the delivery, which reaches subscribers that filter by the address', async () => {
    await using service = await startLists([WALLET]);
    const env = { UPSTREAM_URL: service.url, DATA_DIR: await temporaryDirectory() };
    await using before = await startGateway(env);
    const { deliveryUrl, head } = await deliveriesOf(before.url);
    await using follower = subscribe(before.url, {
      after: head,
      query: `subscription ($after: String, $filter: DeliveryFilter, $address: Address) {
        deliveries(after: $after, filter: $filter) { cursor node { ${EVENTS} } }
      }`,
      filter: { address: WALLET },
      variables: { address: WALLET },
    });
    await deliver(deliveryUrl, { webhookId: idOf(1), body: transferBody(1) });
    await expect.poll(() => follower.edges).toHaveLength(1);
    expect(follower.edges[0]?.node).toMatchObject({ events: [{ subscribedAddress: WALLET }] });
    await before.stop();

    await using after = await startGateway(env);
    expect(await eventsOf(after, { address: WALLET })).toMatchObject([[{ subscribedAddress: WALLET }]]);
    expect(await eventsOf(after, { address: OTHER })).toEqual([]);
  });

  test('invalidates the cached pages of the wallet', async () => {
    await using service = await startLists([WALLET]);
    await using gateway = await startGateway({ UPSTREAM_URL: service.url, CACHE_HEAD_MS: '3600000' });
    const url = await urlOf(gateway);
    const asked = async () => (await poll(gateway, WALLET)).extensions.upstream.requests;
    expect([await asked(), await asked()]).toEqual([1, 0]);
    await deliver(url, { webhookId: idOf(1), body: transferBody(1) });
    expect([await asked(), await asked()]).toEqual([1, 0]);
  });

  test('is null for an event that may have happened while the webhook had other addresses', async () => {
    await using service = await startLists([WALLET]);
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const url = await urlOf(gateway);
    await deliver(url, { webhookId: idOf(1), body: transferBody(1) });
    await change(gateway, 'replaceWebhookAddresses', { webhookId: idOf(1), addresses: [OTHER] });
    // A repetition of an earlier event, and an event well after the change.
    await deliver(url, { webhookId: idOf(1), attempt: 3, body: transferBody(2, -MINUTE_MS) });
    await deliver(url, { webhookId: idOf(1), body: transferBody(3, 10 * MINUTE_MS) });
    // Only upstream knows whether this change was made.
    service.list.addresses = [SENDER];
    await change(gateway, 'updateWebhookAddresses', { webhookId: idOf(1), addAddresses: [SENDER] });
    await deliver(url, { webhookId: idOf(1), body: transferBody(4) });
    await deliver(url, { webhookId: idOf(1), body: transferBody(5, 10 * MINUTE_MS) });
    await change(gateway, 'replaceWebhookAddresses', { webhookId: idOf(1), addresses: [WALLET, OTHER] });
    await deliver(url, { webhookId: idOf(1), body: transferBody(6, 10 * MINUTE_MS) });
    expect(await subscribersOf(gateway)).toEqual([WALLET, null, OTHER, null, SENDER, null]);
  });

  test('with AUTH=key is known without a request to the tenant whose key created or read the addresses', async () => {
    await using service = await startLists([WALLET]);
    await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...byKey });
    const [mine, theirs] = [withKey('the-key-of-mine'), withKey('the-key-of-others')];
    const urls = { mine: await urlOf(gateway, mine), theirs: await urlOf(gateway, theirs) };
    const create = (input: object) => gateway.data(documentOf('createWebhook'), { input }, mine);
    await create({ name: 'w', type: 'ACTIVITIES', url: 'https://example.org/', addresses: [WALLET] });
    for (const url of [urls.mine, urls.theirs]) {
      await deliver(url, { webhookId: idOf(1), body: transferBody(1) });
      await deliver(url, { webhookId: idOf(2), body: transferBody(2) });
    }
    expect(await subscribersOf(gateway, mine)).toEqual([WALLET, null]);
    expect(await subscribersOf(gateway, theirs)).toEqual([null, null]);
    expect(service.requests.filter(({ path }) => path.endsWith('/addresses'))).toEqual([]);
  });

  test.each([
    ['says nothing', { silent: true }],
    ['fails', { status: 500 }],
    ['has no such operation', { status: 405 }],
    ['answers something else', { json: { addresses: [{ of: 'whom' }] } }],
  ])('is nothing that a delivery waits for long: a service that %s', async (_what, reply) => {
    await using service = await startFakeService({ other: () => reply });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const url = await urlOf(gateway);
    for (let number = 0; number < 20; number += 1) {
      expect(await deliver(url, { webhookId: idOf(1), body: transferBody(number) })).toBe(200);
      if (number > 0) continue;
      // The delivery is answered while the request to upstream is still open; that is aborted after five seconds.
      expect(service.requests.length).toBeGreaterThan(0);
      expect(service.requests.map(({ abandoned }) => abandoned)).not.toContain(true);
    }
    expect(await subscribersOf(gateway)).toEqual(Array(20).fill(null));
  });
});

const SOME = [0xa1, 0xb2, 0xc3, 0xd4, 0xe5].map(addressOf);
const anyAddress = fc.constantFrom(
  ...SOME,
  ...SOME.map((address) => `0x${address.slice(2).toUpperCase()}`),
  'none',
  null,
);
const fields = (...names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, anyAddress])), { requiredKeys: [] });
const anyActivity = fc
  .tuple(
    fields(
      'tx_from',
      'tx_to',
      'from',
      'to',
      'spender',
      'token_address',
      'from_token_address',
      'to_token_address',
    ),
    fields('token_address'),
  )
  .map(([activity, asset]) => ({ ...activity, asset }));
const anyChange = fc
  .tuple(fields('subscribed_address', 'counterparty_address'), fields('token_address'))
  .map(([change, asset]) => ({ ...change, asset }));
const anyTransaction = fields('address', 'from', 'to').map((sides) => ({
  hash: `0x${'7a'.repeat(32)}`,
  block_number: 1,
  block_time: '2026-01-02T03:04:05Z',
  chain: 'ethereum',
  chain_id: 1,
  address: SOME[0],
  from: SOME[0],
  logs: [],
  ...Object.fromEntries(Object.entries(sides).filter(([, value]) => value !== null && value !== 'none')),
}));
const anyBody = fc.record(
  {
    activities: fc.array(anyActivity, { maxLength: 3 }),
    balance_changes: fc.array(anyChange, { maxLength: 3 }),
    transactions: fc.array(anyTransaction, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

test('a delivery is found by an address exactly when it has an event of that address', async () => {
  await using service = await startLists([SOME[0] ?? '']);
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  const url = await urlOf(gateway);
  const bodies = fc.sample(fc.tuple(anyBody, fc.boolean()), 150);
  for (const [index, [body, isAlone]] of bodies.entries())
    await deliver(url, { ...(isAlone && { webhookId: idOf(1) }), body: { ...body, index } });
  type Read = { all: { nodes: { id: string; events: unknown[] }[] }; found: { nodes: { id: string }[] } };
  for (const address of SOME) {
    const { all, found } = await gateway.data<Read>(
      `query ($address: Address) {
        all: deliveries(first: 1000) { nodes { id events(address: $address) { __typename } } }
        found: deliveries(first: 1000, filter: { address: $address }) { nodes { id } }
      }`,
      { address },
    );
    const having = all.nodes.filter(({ events }) => events.length > 0).map(({ id }) => id);
    expect(found.nodes.map(({ id }) => id)).toEqual(having);
    expect(having.length).toBeGreaterThan(10);
    expect(having.length).toBeLessThan(all.nodes.length);
  }
});

test('a delivery of several wallets has for each its own events', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const send = (number: number, address: string) => activity(number, address).activities[0];
  const body = { activities: [send(1, WALLET), send(2, OTHER), send(3, WALLET)] };
  await deliver(await urlOf(gateway), { body });
  const hashes = async (address: string) =>
    (await eventsOf(gateway, { address })).map((events) =>
      events.map(({ transactionHash }) => Number(transactionHash)),
    );
  expect(await hashes(WALLET)).toEqual([[1, 3]]);
  expect(await hashes(OTHER)).toEqual([[2]]);
  expect(await hashes(addressOf(0xff))).toEqual([]);
});
