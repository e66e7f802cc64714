import { isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopeOfField, scopeOfType } from '../../../src/graph/authorization.ts';
import { costOf } from '../../../src/graph/cost/field-cost.ts';
import { schema } from '../../../src/schema.ts';
import { balanceChange, deliveriesOf } from '../../support/clients/deliver.ts';
import { subscribe } from '../../support/clients/subscribe.ts';
import { globalId, rootFields } from '../../support/gateway/root-fields.ts';
import { codesOf, type Gateway, startGateway } from '../../support/gateway/start.ts';
import { ALL, bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { addressOf } from '../../support/upstream/builders.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** With AUTH=jwt a token may use what its scopes say, and nothing else, on every transport. */

/** A new root field needs an entry here as well: the scope that allows it. */
const NEEDED: Record<string, string> = {
  'Query.wallet': 'wallets',
  'Query.wallets': 'wallets',
  'Query.token': 'wallets',
  'Query.tokens': 'wallets',
  'Query.searchTokens': 'wallets',
  'Query.transaction': 'wallets',
  'Query.webhook': 'webhooks',
  'Query.webhooks': 'webhooks',
  'Query.deliveries': 'deliveries',
  'Query.deliveryUrl': 'webhooks',
  // The samples' ids are a webhook's.
  'Query.node': 'webhooks',
  'Query.nodes': 'webhooks',
  'Mutation.createWebhook': 'webhooks',
  'Mutation.updateWebhook': 'webhooks',
  'Mutation.deleteWebhook': 'webhooks',
  'Mutation.updateWebhookAddresses': 'webhooks',
  'Mutation.replaceWebhookAddresses': 'webhooks',
  'Mutation.connectWebhook': 'webhooks',
  'Mutation.sendTestEvent': 'webhooks',
  'Mutation.resendDeliveries': 'webhooks',
  'Mutation.replayDeliveries': 'webhooks',
  'Query.watchedWallets': 'watch',
  'Mutation.watchWallet': 'watch',
  'Mutation.unwatchWallet': 'watch',
  'Subscription.deliveries': 'deliveries',
};

/** They hold nothing of anybody's, and ask nothing of the service: any token will do. */
const NO_SCOPE = ['Query.chains', 'Query.chain'];

const SCOPES = ALL.split(' ');
const fields = rootFields(schema).filter(({ coordinate }) => !NO_SCOPE.includes(coordinate));
const strict = { accept: 'application/graphql-response+json' };

/** Everything but `scope`. */
const without = (scope: string | undefined) => SCOPES.filter((each) => each !== scope).join(' ');

const tokenFor = async (scope: string) => bearer(await tokenOf({ scope }));

test('every root field says which scope it needs, or that it needs none', () => {
  expect(
    rootFields(schema)
      .map(({ coordinate }) => coordinate)
      .sort(),
  ).toEqual([...Object.keys(NEEDED), ...NO_SCOPE].sort());
});

const { BalanceChange } = schema.getTypeMap();
const deliveredBalance = isObjectType(BalanceChange) ? BalanceChange.getFields().balance : undefined;

test('every field that the service bills says so too, wherever it is reached from', () => {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const billed = types.flatMap((type) =>
    Object.values(type.getFields()).filter((field) => costOf(field)?.lookup !== undefined),
  );
  // The type in the id decides for these, see the next test; and of a delivered balance what is selected, see below.
  const others = billed.filter(
    (field) => !['node', 'nodes'].includes(field.name) && field !== deliveredBalance,
  );
  expect(others.length).toBeGreaterThanOrEqual(2);
  expect(others.map(scopeOfField)).toEqual(others.map(() => 'wallets'));
});

test('every type that can be refetched says which scope that needs', () => {
  const node = schema.getType('Node');
  const types = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => type.getInterfaces().some((each) => each === node));
  expect(Object.fromEntries(types.map((type) => [type.name, scopeOfType(type)]))).toEqual({
    Wallet: 'wallets',
    Balance: 'wallets',
    Token: 'wallets',
    Webhook: 'webhooks',
    WebhookDelivery: 'deliveries',
  });
});

const settings: [string, Record<string, string>][] = [
  ['by default', {}],
  ['in production', { NODE_ENV: 'production' }],
];

describe.each(settings)('%s who lacks the scope is FORBIDDEN, and nothing is requested:', (_how, env) => {
  let fake: FakeWallets;
  let gateway: Gateway;
  beforeAll(async () => {
    fake = await startFakeWallets();
    fake.script.other = () => ({ status: 404, json: { error: 'no such webhook' } });
    gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      ...byToken,
      ...env,
      MAX_COMPUTE_UNITS: '10',
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '20',
    });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await fake[Symbol.asyncDispose]();
  });

  test.each(fields)('$coordinate, by HTTP', async ({ coordinate, query }) => {
    const before = fake.requests.length;
    const scope = NEEDED[coordinate];
    const headers = { ...strict, ...(await tokenFor(without(scope))) };
    if (coordinate.startsWith('Subscription')) return;
    const reply = await gateway.query(query, {}, headers);
    expect(codesOf(reply)).toEqual(['FORBIDDEN']);
    expect(reply.errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN', scope });
    expect(reply.errors?.[0]?.message).toContain(scope);
    expect(reply.status).toBe(200);
    expect(reply.data === null || Object.values(reply.data as object).flat()[0] === null).toBe(true);
    expect(fake.requests.length).toBe(before);
  });

  test.each(fields)('$coordinate, by server-sent events', async ({ coordinate, query }) => {
    const before = fake.requests.length;
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(await tokenFor(without(NEEDED[coordinate]))),
      },
      body: JSON.stringify({ query }),
    });
    const body = await response.text();
    expect(body).toContain('"FORBIDDEN"');
    expect(body).toContain(`the scope ${NEEDED[coordinate]}`);
    expect(fake.requests.length).toBe(before);
  });

  test.each(fields)('$coordinate, by WebSocket', async ({ coordinate, query }) => {
    const before = fake.requests.length;
    const connectionParams = await tokenFor(without(NEEDED[coordinate]));
    await using socket = subscribe(gateway.url, { query, connectionParams });
    await socket.ended;
    expect(codesOf({ errors: socket.faults })).toEqual(['FORBIDDEN']);
    expect(fake.requests.length).toBe(before);
  });

  test.each(fields)('$coordinate, to a token of no scope at all', async ({ query }) => {
    for (const scope of ['', 'others WALLETS wallets,webhooks', undefined]) {
      await using socket = subscribe(gateway.url, {
        query,
        connectionParams: bearer(await tokenOf({ scope })),
      });
      await socket.ended;
      expect(codesOf({ errors: socket.faults })).toEqual(['FORBIDDEN']);
    }
  });

  test.each(fields)('but who has it may: $coordinate', async ({ coordinate, query }) => {
    if (coordinate.startsWith('Subscription')) return;
    const reply = await gateway.query(query, {}, await tokenFor(NEEDED[coordinate] ?? ''));
    expect(codesOf(reply)).not.toContain('FORBIDDEN');
    expect(codesOf(reply)).not.toContain('UNAUTHENTICATED');
  });

  const wallets = Array.from({ length: 20 }, (_, index) => addressOf(index));
  const dear = 'query ($all: [Address!]!) { wallets(addresses: $all) { transactions { nodes { hash } } } }';

  test('a client without the scope learns no cost, and its budget is not charged', async () => {
    // A client who has spent nothing yet.
    const tokenOfBob = async (scope: string) => bearer(await tokenOf({ scope, sub: 'bob' }));
    const headers = await tokenOfBob('webhooks');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const reply = await gateway.query(dear, { all: wallets }, headers);
      expect(codesOf(reply)).toEqual(['FORBIDDEN']);
      expect(reply.body).not.toMatch(/computeUnits":[1-9]|estimated/i);
    }
    const allowed = await gateway.query(dear, { all: wallets }, await tokenOfBob('wallets'));
    expect(codesOf(allowed)).toEqual(['OPERATION_TOO_COMPLEX']);
    const cheap = await gateway.query(dear, { all: wallets.slice(0, 9) }, await tokenOfBob('wallets'));
    expect(cheap.errors).toBeUndefined();
  });
});

describe('a token with some scopes', () => {
  const webhook = { id: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41', type: 'activities', active: true };

  const start = async () => {
    const fake = await startFakeWallets();
    fake.script.other = ({ path }) =>
      path.endsWith('/addresses') ? { json: { addresses: [addressOf(1)] } } : { json: webhook };
    const gateway = await startGateway({ UPSTREAM_URL: fake.url, ...byToken });
    return {
      fake,
      gateway,
      async [Symbol.asyncDispose]() {
        await gateway[Symbol.asyncDispose]();
        await fake[Symbol.asyncDispose]();
      },
    };
  };

  test('gets what it may, beside an error for what it may not', async () => {
    await using started = await start();
    const reply = await started.gateway.query(
      `{ wallet(address: "${addressOf(1)}") { transactions { nodes { hash } } } deliveries { head } }`,
      {},
      await tokenFor('wallets'),
    );
    expect(reply.data).toEqual({ wallet: { transactions: { nodes: [] } }, deliveries: null });
    expect(reply.errors?.map(({ path }) => path)).toEqual([['deliveries']]);
  });

  test('gets of many nodes those that it may, each id for itself', async () => {
    await using started = await start();
    const ids = [globalId('Webhook', webhook.id), globalId('Wallet', addressOf(1))];
    const reply = await started.gateway.query(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename } }',
      { ids },
      await tokenFor('wallets'),
    );
    expect(reply.data).toEqual({ nodes: [null, { __typename: 'Wallet' }] });
    expect(codesOf(reply)).toEqual(['FORBIDDEN']);
    expect(started.fake.requests).toEqual([]);
  });

  test("does not look wallets up by way of a webhook's addresses", async () => {
    await using started = await start();
    const reply = await started.gateway.query<{ webhook: { addresses: { nodes: object[] } } }>(
      `{ webhook(webhookId: "${webhook.id}") { addresses { nodes { address transactions { nodes { hash } } } } } }`,
      {},
      await tokenFor('webhooks'),
    );
    expect(reply.data?.webhook.addresses.nodes).toEqual([{ address: addressOf(1), transactions: null }]);
    expect(codesOf(reply)).toEqual(['FORBIDDEN']);
    expect(started.fake.requestsFor(addressOf(1))).toEqual([]);
  });

  test('does not look up what a delivered balance lacks', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      ...byToken,
      MAX_COMPUTE_UNITS: '1000000',
    });
    const { deliveryUrl } = await deliveriesOf(gateway.url, await tokenFor('webhooks deliveries'));
    const body = JSON.stringify(balanceChange(addressOf(1), addressOf(2), '5'));
    const headers = { 'content-type': 'application/json', 'x-fake-webhook-chain-id': '1' };
    expect((await fetch(deliveryUrl, { method: 'POST', headers, body })).status).toBe(200);
    const deliveriesAlone = await tokenFor('deliveries');
    const ask = (fields: string) =>
      gateway.query<{ deliveries: { nodes: { events: object[] }[] } }>(
        `{ deliveries(first: 1) { nodes { events { ... on BalanceChange { amountAfter balance { ${fields} } } } } } }`,
        {},
        deliveriesAlone,
      );
    const own = await ask('amount');
    expect(own.data?.deliveries.nodes[0]?.events).toEqual([{ amountAfter: '5', balance: { amount: '5' } }]);
    expect(codesOf(await ask('amount tokenUrl'))).toEqual(['FORBIDDEN']);
    expect(fake.requestsFor(addressOf(1))).toEqual([]);
  });

  test("does not read deliveries by way of a webhook, but the webhook's own fields", async () => {
    await using started = await start();
    const query = `{ webhook(webhookId: "${webhook.id}") { active deliveries { head } } }`;
    const reply = await started.gateway.query(query, {}, await tokenFor('webhooks'));
    expect(reply.data).toEqual({ webhook: { active: true, deliveries: null } });
    expect(codesOf(reply)).toEqual(['FORBIDDEN']);
    const both = await started.gateway.query(query, {}, await tokenFor('webhooks deliveries'));
    expect(both.errors).toBeUndefined();
  });
});
