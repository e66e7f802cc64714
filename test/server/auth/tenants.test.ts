import { describe, expect, test } from 'vitest';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { poll } from '../../support/clients/queries.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** How tenants are identified, and what they share. */

type Headers = Record<string, string>;

type Read = {
  deliveries: { head: string; edges: { cursor: string; node: { id: string } }[] };
  deliveryUrl: string;
};

const READ = '{ deliveries { head edges { cursor node { id } } } deliveryUrl }';

const read = (gateway: Gateway, who: Headers) => gateway.data<Read>(READ, {}, who);

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
