import { beforeEach, describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL } from '../backend/dispatch/support/builders.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { BLOCKS } from './support/block-fixtures.ts';
import { createdId } from './support/documents.ts';
import { type Managed, startManaged } from './support/managed.ts';
import { idOf, restWebhook } from './support/rest.ts';
import { changed, mutate, ownStatesOf, WATCHED, type Watched, watched } from './support/watching.ts';

/** A caller watches wallets by webhooks of the gateway's own, one address each. */

const addressesOf = (all: readonly Watched[]) => all.map(({ wallet }) => wallet.address).sort();

type Page = { edges: { cursor: string; node: Watched }[]; pageInfo: { hasNextPage: boolean } };

describe('a gateway with one tenant', () => {
  let managed: Managed;
  let gateway: Gateway;
  beforeEach(async () => {
    managed = await startManaged();
    gateway = managed.gateway;
    return () => managed[Symbol.asyncDispose]();
  });

  const ownStates = () => ownStatesOf(managed);

  test('a watched wallet has one active webhook a type, which holds its address alone', async () => {
    const { watchedWallet } = await changed(gateway, 'watchWallet', {
      address: ALICE.toUpperCase().replace('0X', '0x'),
    });
    expect(watchedWallet).toMatchObject({
      wallet: { address: ALICE },
      types: ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'],
      chainIds: null,
    });
    for (const webhook of watchedWallet?.webhooks ?? []) {
      expect(webhook).toMatchObject({ active: true, deliversHere: true });
      expect(await managed.addresses(webhook.webhookId)).toEqual([ALICE]);
    }
    expect(await ownStates()).toHaveLength(3);
    expect(await watched(gateway)).toEqual([watchedWallet]);
  });

  test('repeating it changes nothing, also when repeated at once', async () => {
    const input = { address: ALICE, chainIds: [1, 8453] };
    const [one, two] = await Promise.all([
      changed(gateway, 'watchWallet', input),
      changed(gateway, 'watchWallet', input),
    ]);
    const before = await ownStates();
    expect(before).toHaveLength(3);
    expect(two).toEqual(one);
    expect(await changed(gateway, 'watchWallet', { address: ALICE, chainIds: [8453, 1] })).toEqual(one);
    expect(await ownStates()).toEqual(before);
  });

  test('other types and chains replace those before, and what was turned off is turned on', async () => {
    const { watchedWallet } = await changed(gateway, 'watchWallet', { address: ALICE, chainIds: [1] });
    const kept = watchedWallet?.webhooks.find(({ type }) => type === 'ACTIVITIES');
    await gateway.data(
      `mutation ($webhookId: UUID!) { updateWebhook(input: { webhookId: $webhookId, active: false }) { __typename } }`,
      { webhookId: kept?.webhookId },
    );
    const again = await changed(gateway, 'watchWallet', {
      address: ALICE,
      types: ['ACTIVITIES', 'ACTIVITIES'],
    });
    expect(again.watchedWallet).toMatchObject({ types: ['ACTIVITIES'], chainIds: null, webhooks: [kept] });
    expect(await ownStates()).toMatchObject([{ id: kept?.webhookId, active: true }]);
  });

  test("unwatchWallet deletes the wallet's webhooks and no others, and may be repeated", async () => {
    const other = await createdId(gateway, { name: `watchWallet ${ALICE}`, url: 'https://elsewhere.test/' });
    await changed(gateway, 'watchWallet', { address: ALICE });
    await changed(gateway, 'watchWallet', { address: BOB });
    for (const _ of [1, 2])
      expect(await changed(gateway, 'unwatchWallet', { address: ALICE })).toEqual({ address: ALICE });
    expect(addressesOf(await watched(gateway))).toEqual([BOB]);
    expect(await managed.state(other)).not.toBeNull();
  });

  test('what can be judged here never reaches the service', async () => {
    const before = (await managed.states()).length;
    for (const input of [{ types: [] }, { types: ['NOTHING'] }, { chainIds: [4] }, { address: '0x1' }]) {
      const reply = await mutate(gateway, 'watchWallet', { address: ALICE, ...input }, {});
      expect(codesOf(reply), JSON.stringify(input)).toEqual(['BAD_USER_INPUT']);
    }
    expect(await managed.states()).toHaveLength(before);
  });

  test('the list is paged, and each page continues after its cursor', async () => {
    for (const address of [ALICE, BOB, CAROL])
      await changed(gateway, 'watchWallet', { address, types: ['BALANCES'] });
    const seen: string[] = [];
    let after: string | null = null;
    for (const left of [2, 1, 0]) {
      const { watchedWallets }: { watchedWallets: Page } = await gateway.data(
        `query ($after: String) { watchedWallets(first: 1, after: $after) {
          edges { cursor node { ${WATCHED} } } pageInfo { hasNextPage }
        } }`,
        { after },
      );
      expect(watchedWallets.pageInfo.hasNextPage).toBe(left > 0);
      seen.push(...watchedWallets.edges.map(({ node }) => node.wallet.address));
      after = watchedWallets.edges[0]?.cursor ?? null;
    }
    expect(seen.toSorted()).toEqual([ALICE, BOB, CAROL].toSorted());
  });

  test("every event of its webhooks is known to be the wallet's", async () => {
    await changed(gateway, 'watchWallet', { address: ALICE });
    for (const block of BLOCKS) managed.sandbox.webhooks.handleBlock(block);
    await managed.sandbox.webhooks.settled();
    const { deliveries } = await gateway.data<{
      deliveries: { nodes: { type: string; events: { subscribedAddress?: string }[] }[] };
    }>(
      `query ($address: Address!) { deliveries(first: 1000, filter: { address: $address }) {
      nodes { type events { ... on Activity { subscribedAddress } } }
    } }`,
      { address: ALICE },
    );
    const types = new Set(deliveries.nodes.map(({ type }) => type));
    expect([...types].sort()).toEqual(['ACTIVITIES', 'BALANCES', 'TRANSACTIONS']);
    const activities = deliveries.nodes
      .filter(({ type }) => type === 'ACTIVITIES')
      .flatMap(({ events }) => events);
    expect(activities.length).toBeGreaterThan(3);
    expect(activities.every(({ subscribedAddress }) => subscribedAddress === ALICE)).toBe(true);
  });
});

test('more wallets than MAX_WATCHED_WALLETS are refused as data, and a watched one may be watched again', async () => {
  await using managed = await startManaged({ MAX_WATCHED_WALLETS: '2' });
  const { gateway } = managed;
  const types = ['BALANCES'];
  const answers = await Promise.all(
    [ALICE, BOB, CAROL].map((address) => changed(gateway, 'watchWallet', { address, types })),
  );
  expect(answers.filter(({ watchedWallet }) => watchedWallet)).toHaveLength(2);
  expect(answers.flatMap(({ code, message }) => (code ? [code, message] : []))).toEqual([
    'REJECTED',
    'Expected at most 2 watched wallets, got one more. Unwatch another wallet first.',
  ]);
  const again = answers.find(({ watchedWallet }) => watchedWallet);
  const address = again?.watchedWallet?.wallet.address;
  expect(await changed(gateway, 'watchWallet', { address, types })).toEqual(again);
});

test('each tenant watches its own wallets, with the scopes wallets, deliveries and watch alone', async () => {
  await using managed = await startManaged(byToken);
  const { gateway } = managed;
  const scope = 'wallets deliveries watch';
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map(async (sub) => bearer(await tokenOf({ sub, scope }))),
  );
  await changed(gateway, 'watchWallet', { address: ALICE, types: ['BALANCES'] }, alice);
  await changed(gateway, 'watchWallet', { address: ALICE, types: ['ACTIVITIES'] }, bob);
  await changed(gateway, 'watchWallet', { address: BOB, types: ['ACTIVITIES'] }, bob);
  expect(await ownStatesOf(managed)).toHaveLength(3);
  expect(addressesOf(await watched(gateway, alice))).toEqual([ALICE]);
  expect((await watched(gateway, alice))[0]?.types).toEqual(['BALANCES']);
  await changed(gateway, 'unwatchWallet', { address: BOB }, alice);
  expect(addressesOf(await watched(gateway, bob))).toEqual([ALICE, BOB].toSorted());

  // The URL would let its reader post events.
  const reply = await gateway.query('{ watchedWallets { nodes { webhooks { name url } } } }', {}, alice);
  expect(codesOf(reply)).toEqual(['FORBIDDEN']);
  expect(reply.data).toEqual({
    watchedWallets: { nodes: [{ webhooks: [{ name: `watchWallet ${ALICE}`, url: null }] }] },
  });

  // Its events arrive in the log of its tenant.
  for (const block of BLOCKS) managed.sandbox.webhooks.handleBlock(block);
  await managed.sandbox.webhooks.settled();
  const typesOf = async (headers?: Record<string, string>) => {
    const { data } = await gateway.query('{ deliveries(first: 1000) { nodes { type } } }', {}, headers);
    return [
      ...new Set(
        (data as { deliveries: { nodes: { type: string }[] } }).deliveries.nodes.map(({ type }) => type),
      ),
    ];
  };
  expect(await typesOf(alice)).toEqual(['BALANCES']);
  expect(await typesOf(bob)).toEqual(['ACTIVITIES']);
});

describe('what reading the list requests', () => {
  const WALLETS = 45;
  const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;

  /** A service with one webhook for each of many watched wallets, and the webhooks whose addresses were read. */
  const startMany = async (listsAddresses = true) => {
    const made = new AsyncDisposableStack();
    const settings = new Map<number, object>();
    const read: number[] = [];
    let url = '';
    const fake = made.use(
      await startFakeService({
        other: ({ path }) => {
          const number = Number.parseInt(path.match(/-([0-9a-f]{12})\/addresses$/)?.[1] ?? '0', 16);
          if (number > 0) {
            read.push(number);
            return listsAddresses ? { json: { addresses: [addressOf(number)] } } : { status: 405 };
          }
          const webhooks = Array.from({ length: WALLETS }, (_, index) =>
            restWebhook({
              id: idOf(index + 1),
              name: `watchWallet ${addressOf(index + 1)}`,
              url,
              ...settings.get(index + 1),
            }),
          );
          return { json: { webhooks } };
        },
      }),
    );
    const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url }));
    ({ deliveryUrl: url } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }'));
    const listed = async (first: number, after: string | null = null) => {
      read.length = 0;
      const { watchedWallets } = await gateway.data<{
        watchedWallets: {
          nodes: { wallet: { address: string }; types: string[] }[];
          pageInfo: { hasNextPage: boolean; endCursor: string };
        };
      }>(
        'query ($first: Int, $after: String) { watchedWallets(first: $first, after: $after) { nodes { wallet { address } types } pageInfo { hasNextPage endCursor } } }',
        { first, after },
      );
      return { ...watchedWallets, read: read.length };
    };
    return { fake, settings, listed, [Symbol.asyncDispose]: () => made.disposeAsync() };
  };

  test('the addresses of the webhooks that a page may show, and of those that have changed', async () => {
    await using many = await startMany();
    const first = await many.listed(20);
    expect(first).toMatchObject({ read: 20, pageInfo: { hasNextPage: true } });
    expect(await many.listed(20)).toEqual({ ...first, read: 0 });
    const second = await many.listed(20, first.pageInfo.endCursor);
    expect(second.read).toBe(20);
    const all = await many.listed(1000);
    expect(all).toMatchObject({ read: 5, pageInfo: { hasNextPage: false } });
    expect(all.nodes.map(({ wallet }) => wallet.address)).toEqual(
      Array.from({ length: WALLETS }, (_, index) => addressOf(index + 1)),
    );
    expect([...first.nodes, ...second.nodes]).toEqual(all.nodes.slice(0, 40));
    many.settings.set(3, { updated_at: '2026-01-01T00:00:00Z' });
    many.settings.set(4, { updated_at: null });
    expect((await many.listed(1000)).read).toBe(2);
    expect((await many.listed(1000)).read).toBe(1);
    expect(Math.max(...many.fake.requests.map(({ concurrency }) => concurrency))).toBeLessThanOrEqual(8);
  });

  test('nothing more where the service does not list addresses: name and URL are all there is', async () => {
    await using many = await startMany(false);
    const all = await many.listed(1000);
    expect(all.nodes).toHaveLength(WALLETS);
    expect(all.read).toBeLessThanOrEqual(8);
  });

  test('a filter that the gateway does not know is a filter', async () => {
    await using many = await startMany();
    many.settings.set(1, { asset_type: 'erc9999' });
    const { nodes } = await many.listed(2);
    expect(nodes.map(({ types }) => types)).toEqual([[], ['TRANSACTIONS']]);
  });
});
