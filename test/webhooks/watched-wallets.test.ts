import { beforeEach, describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL } from '../sandbox/webhooks/support/builders.ts';
import { codesOf, type Gateway, type Variables } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { BLOCKS } from './support/block-fixtures.ts';
import { createdId } from './support/documents.ts';
import { type Managed, startManaged } from './support/managed.ts';

/** A caller watches wallets by webhooks of the gateway's own, one address each. */

type Watched = {
  wallet: { address: string };
  types: string[];
  chainIds: number[] | null;
  webhooks: { webhookId: string; type: string; active: boolean; deliversHere: boolean }[];
};
type Answer = { watchedWallet?: Watched; address?: string; code?: string; message?: string };
type Page = { edges: { cursor: string; node: Watched }[]; pageInfo: { hasNextPage: boolean } };
type Headers = Record<string, string>;

const WATCHED = 'wallet { address } types chainIds webhooks { webhookId type active deliversHere }';

const mutate = async (
  gateway: Gateway,
  name: 'watchWallet' | 'unwatchWallet',
  input: Variables,
  headers: Headers,
) => {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return gateway.query(
    `mutation ($input: ${type}Input!) { answer: ${name}(input: $input) {
      ... on WatchWalletPayload { watchedWallet { ${WATCHED} } }
      ... on UnwatchWalletPayload { address }
      ... on WebhookError { code message }
    } }`.replace(name === 'watchWallet' ? /\.\.\. on Unwatch.*\n/ : /\.\.\. on WatchW.*\n/, ''),
    { input },
    headers,
  );
};

const changed = async (
  gateway: Gateway,
  name: 'watchWallet' | 'unwatchWallet',
  input: Variables,
  headers: Headers = {},
): Promise<Answer> => {
  const { data, errors } = await mutate(gateway, name, input, headers);
  expect(errors).toBeUndefined();
  return (data as { answer: Answer }).answer;
};

const watched = async (gateway: Gateway, headers: Headers = {}): Promise<Watched[]> => {
  const { data } = await gateway.query(`{ watchedWallets { nodes { ${WATCHED} } } }`, {}, headers);
  return (data as { watchedWallets: { nodes: Watched[] } }).watchedWallets.nodes;
};

const addressesOf = (all: readonly Watched[]) => all.map(({ wallet }) => wallet.address).sort();

/** The webhooks at the service that watch a wallet. */
const ownStatesOf = async (managed: Managed) =>
  (await managed.states()).filter(({ name }) => `${name}`.startsWith('watchWallet '));

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

  test('of two webhooks of one type, which two gateways have created, the older one stays', async () => {
    const first = await changed(gateway, 'watchWallet', { address: ALICE, types: ['BALANCES'] });
    await createdId(gateway, { name: `watchWallet ${ALICE}`, type: 'BALANCES', addresses: [ALICE] });
    expect(await watched(gateway)).toEqual([first.watchedWallet]);
    expect(await changed(gateway, 'watchWallet', { address: ALICE, types: ['BALANCES'] })).toEqual(first);
    expect(await ownStates()).toHaveLength(1);
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
  const typesOf = async (headers: Headers) => {
    const { data } = await gateway.query('{ deliveries(first: 1000) { nodes { type } } }', {}, headers);
    return [
      ...new Set(
        (data as { deliveries: { nodes: { type: string }[] } }).deliveries.nodes.map(({ type }) => type),
      ),
    ];
  };
  expect(await typesOf(alice as Headers)).toEqual(['BALANCES']);
  expect(await typesOf(bob as Headers)).toEqual(['ACTIVITIES']);
});
