import { describe, expect, test } from 'vitest';
import { activity, deliver } from './support/deliver.ts';
import { startFakeService } from './support/fake-service.ts';
import { codesOf, type Gateway, nowhere, startGateway } from './support/gateway.ts';
import { acceptingKeys, byKey, withKey } from './support/keys.ts';
import { freshAddress, history } from './support/make.ts';
import { poll } from './support/poll.ts';
import { eventually, subscribe } from './support/subscribe.ts';
import { bearer, byToken, tokenOf } from './support/tokens.ts';
import { servingTransactions } from './support/upstream-paging.ts';
import { startFakeWallets } from './support/wallets.ts';

/** A tenant sees its own deliveries and nobody else's, whichever way it tries. */

type Headers = Record<string, string>;

type Read = {
  deliveries: { head: string; edges: { cursor: string; node: { id: string } }[] };
  deliveryUrl: string;
};

const READ = '{ deliveries { head edges { cursor node { id } } } deliveryUrl }';
const WEBHOOK = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';

const read = (gateway: Gateway, who: Headers) => gateway.data<Read>(READ, {}, who);

const modes: [string, Record<string, string | undefined>, (name: string) => Promise<Headers>][] = [
  ['AUTH=key', byKey, async (name) => withKey(`key-of-${name}`)],
  ['AUTH=jwt', byToken, async (sub) => bearer(await tokenOf({ sub }))],
];

describe.each(modes)('with %s', (_mode, env, headersOf) => {
  /** A gateway where each of two tenants has one delivery that the other must not see. */
  const start = async () => {
    // It is gone when the tests begin: by then both keys are proven.
    await using service = await startFakeService({ other: acceptingKeys });
    const gateway = await startGateway({ UPSTREAM_URL: service.url, ...env });
    const [alice, bob] = [await headersOf('alice'), await headersOf('bob')];
    const urls = {
      alice: (await read(gateway, alice)).deliveryUrl,
      bob: (await read(gateway, bob)).deliveryUrl,
    };
    expect(await deliver(urls.alice, { webhookId: WEBHOOK, body: activity(1) })).toBe(200);
    expect(await deliver(urls.bob, { webhookId: WEBHOOK, body: activity(2) })).toBe(200);
    const theirs = { alice: await read(gateway, alice), bob: await read(gateway, bob) };
    return Object.assign(gateway, { alice, bob, urls, theirs });
  };

  test('each tenant reads its own', async () => {
    await using gateway = await start();
    const { alice, bob } = gateway.theirs;
    expect([alice, bob].map(({ deliveries }) => deliveries.edges.length)).toEqual([1, 1]);
    expect(alice.deliveries.edges[0]?.node.id).not.toBe(bob.deliveries.edges[0]?.node.id);
  });

  test("another's cursor leads nowhere, in any argument, query or subscription", async () => {
    await using gateway = await start();
    const { head, edges } = gateway.theirs.bob.deliveries;
    for (const cursor of [head, edges[0]?.cursor])
      for (const argument of ['after', 'before']) {
        const reply = await gateway.query(
          `query ($cursor: String) { deliveries(${argument}: $cursor) { nodes { payload } } }`,
          { cursor },
          gateway.alice,
        );
        expect(codesOf(reply)).toEqual(['CURSOR_EXPIRED']);
        expect(reply.data).toEqual({ deliveries: null });
      }
    await using socket = subscribe(gateway.url, { after: head, connectionParams: gateway.alice });
    await socket.ended;
    expect([socket.edges, codesOf({ errors: socket.faults })]).toEqual([[], ['CURSOR_EXPIRED']]);
  });

  test("another's id finds nothing", async () => {
    await using gateway = await start();
    const id = gateway.theirs.bob.deliveries.edges[0]?.node.id;
    const query = 'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }';
    const strange = await gateway.query(query, { id }, gateway.alice);
    expect(strange.data).toEqual({ node: null, nodes: [null] });
    expect(await gateway.data(query, { id }, gateway.bob)).toEqual({ node: { id }, nodes: [{ id }] });
  });

  test("the same webhook's id in a filter finds one's own alone", async () => {
    await using gateway = await start();
    const query = `{ deliveries(filter: { webhookIds: ["${WEBHOOK}"] }) { nodes { id } } }`;
    const found = await gateway.data<{ deliveries: { nodes: object[] } }>(query, {}, gateway.alice);
    expect(found.deliveries.nodes).toEqual([{ id: gateway.theirs.alice.deliveries.edges[0]?.node.id }]);
  });

  test("a delivery url is one tenant's: its token opens no other", async () => {
    await using gateway = await start();
    const { urls } = gateway;
    const [alice, bob] = [new URL(urls.alice), new URL(urls.bob)];
    const parts = (url: URL) => url.pathname.split('/');
    const crossed = new URL(`/deliveries/${parts(bob)[2]}/${parts(alice)[3]}`, gateway.url).href;
    const unknown = new URL(`/deliveries/nobody/${parts(alice)[3]}`, gateway.url).href;
    const climbing = new URL(
      `/deliveries/${parts(alice)[2]}%2f..%2f${parts(bob)[2]}/${parts(alice)[3]}`,
      gateway.url,
    );
    for (const url of [crossed, unknown, climbing.href])
      expect(await deliver(url, { body: activity(9) })).toBe(404);
    expect((await read(gateway, gateway.bob)).deliveries.edges).toHaveLength(1);
  });

  test('a subscription shows what its own tenant gets, by WebSocket and by server-sent events', async () => {
    await using gateway = await start();
    await using alice = subscribe(gateway.url, {
      after: gateway.theirs.alice.deliveries.head,
      connectionParams: gateway.alice,
    });
    await alice.opened;
    const stream = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...gateway.alice },
      body: JSON.stringify({
        query: 'subscription ($after: String) { deliveries(after: $after) { node { payload } } }',
        variables: { after: gateway.theirs.alice.deliveries.head },
      }),
    });
    const secret = freshAddress();
    await deliver(gateway.urls.bob, { body: activity(10, secret) });
    await deliver(gateway.urls.alice, { body: activity(11) });
    await eventually(() => alice.edges.length > 0);
    await deliver(gateway.urls.bob, { body: activity(12, secret) });
    await deliver(gateway.urls.alice, { body: activity(13) });
    await eventually(() => alice.edges.length > 1);
    const blocks = alice.edges.map(({ node }) => (node.payload as ReturnType<typeof activity>).activities[0]);
    expect(blocks.map((block) => block?.block_number)).toEqual([11, 13]);

    let streamed = '';
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      streamed += chunk;
      if (streamed.includes('"block_number":13')) break;
    }
    expect(streamed).toContain('"block_number":11');
    expect(streamed).not.toContain(secret);
  });
});

describe("a token's tenant", () => {
  const start = () => startGateway({ UPSTREAM_URL: nowhere, ...byToken });

  test('is its tenant claim: subjects of one tenant share its deliveries', async () => {
    await using gateway = await start();
    const [one, other] = [
      bearer(await tokenOf({ sub: 'one', tenant: 'acme' })),
      bearer(await tokenOf({ sub: 'other', tenant: 'acme' })),
    ];
    const url = (await read(gateway, one)).deliveryUrl;
    expect(new URL(url).pathname).toMatch(/^\/deliveries\/acme\//);
    await deliver(url, { body: activity(1) });
    expect((await read(gateway, other)).deliveries.edges).toHaveLength(1);
    expect(
      (await read(gateway, bearer(await tokenOf({ sub: 'acme', tenant: 'else' })))).deliveries.edges,
    ).toEqual([]);
  });

  test.each([
    'a/b',
    '../alice',
    '%2e%2e',
    'ä ?#',
    '__proto__',
    'constructor',
    'a\r\nb',
    "'; --",
    '..;',
    '🦄',
  ])('may be %j: it has deliveries of its own', async (tenant) => {
    await using gateway = await start();
    const who = bearer(await tokenOf({ tenant }));
    const { deliveryUrl } = await read(gateway, who);
    expect(await deliver(deliveryUrl, { body: activity(1) })).toBe(200);
    expect((await read(gateway, who)).deliveries.edges).toHaveLength(1);
    expect((await read(gateway, bearer(await tokenOf()))).deliveries.edges).toEqual([]);
  });
});

describe('with AUTH=jwt all act with the one key of the gateway', () => {
  const CACHE = { CACHE_HEAD_MS: '60000' };

  test('so they share pages, and news that a tenant gets outdates them for all', async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...byToken, ...CACHE });
    const address = freshAddress();
    fake.transactions.set(address, servingTransactions(history(3)));
    const [alice, bob] = [bearer(await tokenOf()), bearer(await tokenOf({ sub: 'bob' }))];
    await poll(gateway, address, alice);
    await poll(gateway, address, bob);
    expect(fake.requestsFor(address)).toHaveLength(1);
    const { deliveryUrl } = await gateway.data<Read>('{ deliveryUrl }', {}, alice);
    expect(await deliver(deliveryUrl, { body: activity(1, address) })).toBe(200);
    await poll(gateway, address, bob);
    expect(fake.requestsFor(address)).toHaveLength(2);
  });

  test("a budget is a subject's, whichever token it shows, and a tenant is not its namesake", async () => {
    await using fake = await startFakeWallets();
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      ...byToken,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '1',
    });
    const ask = async (claims: object) =>
      codesOf(await poll(gateway, freshAddress(), bearer(await tokenOf({ ...claims }))));
    expect(await ask({ jti: '1' })).toEqual([]);
    expect(await ask({ jti: '2' })).toEqual(['COMPUTE_BUDGET_EXCEEDED']);
    expect(await ask({ sub: 'bob' })).toEqual([]);
    expect(await ask({ sub: undefined, tenant: 'alice' })).toEqual([]);
  });
});

test('the sandbox delivers to the tenant demo, which a developer can be', async () => {
  await using gateway = await startGateway({ ...byToken, SANDBOX_BLOCK_MS: '50' });
  await using demo = subscribe(gateway.url, {
    connectionParams: bearer(await tokenOf({ sub: 'dev', tenant: 'demo' })),
  });
  await eventually(() => demo.edges.length > 2);
  const { deliveries } = await read(gateway, bearer(await tokenOf()));
  expect(deliveries.edges).toEqual([]);
});
