import { expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { askInParts, MULTIPART, NEWEST } from '../../support/clients/parts.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import { requestsToBe } from '../../support/gateway/wait-for-requests.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** An operation whose answer exceeds MAX_ANSWER_MB ends at once: it waits for no request, and causes no further one. */

const QUERY = `query ($large: Address!, $slow: Address!, $others: [Address!]!) {
  slow: wallet(address: $slow) { transactions(first: 1000) { nodes { hash } } }
  large: wallet(address: $large) { transactions(first: 100) { nodes { data } } }
  others: wallets(addresses: $others) { transactions(first: 400) { nodes { hash } } }
}`;
const IN_PARTS = `query ($large: Address!, $slow: Address!, $others: [Address!]!) {
  large: wallet(address: $large) { address ... @defer { transactions(first: 100) { nodes { data } } } }
  ... @defer { slow: wallet(address: $slow) { transactions(first: 1000) { nodes { hash } } } }
  ... @defer { others: wallets(addresses: $others) { transactions(first: 400) { nodes { hash } } } }
}`;

/** A gateway over a wallet of 4 MB, a slow one, and 20 others. The first two wait until they are released. */
const startOverLarge = async () => {
  await using started = new AsyncDisposableStack();
  const fake = started.use(await startFakeWallets());
  const limits = { MAX_ANSWER_MB: '1', MAX_COMPUTE_UNITS: '1000' };
  const env = { ...limits, UPSTREAM_TIMEOUT_MS: '100000', UPSTREAM_CONNECTIONS: '2' };
  const gateway = started.use(await startGateway({ UPSTREAM_URL: fake.url, ...env }));
  const [large, slow] = [freshAddress(), freshAddress()];
  const others = Array.from({ length: 20 }, freshAddress);
  const [largeReleased, slowReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const data = `0x${'ab'.repeat(20_000)}`;
  const serveLarge = servingTransactions(history(100).map((item) => ({ ...item, data })));
  const serveMany = servingTransactions(history(1000));
  fake.transactions.set(large, (request) => largeReleased.promise.then(() => serveLarge(request)));
  fake.transactions.set(slow, (request) => slowReleased.promise.then(() => serveMany(request)));
  for (const address of others) fake.transactions.set(address, serveMany);
  const resources = started.move();
  return {
    fake,
    gateway,
    variables: { large, slow, others },
    releaseLarge: largeReleased.resolve,
    releaseSlow: slowReleased.resolve,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

test('a whole answer comes at once, its requests are aborted, and its later ones are not sent', async () => {
  await using over = await startOverLarge();
  const { fake, gateway, variables, releaseLarge } = over;
  releaseLarge();
  const reply = await gateway.query(QUERY, variables);
  expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
  expect(reply.data).toBe(null);
  await eventually(() => fake.requestsFor(variables.slow)[0]?.abandoned === true);
  await requestsToBe(gateway.url, 0);
  // Without a limit it would be 91.
  expect(fake.requests.length).toBeLessThan(20);
  expect(fake.requestsFor(variables.slow)).toHaveLength(1);
});

test.each([MULTIPART, NEWEST])('an answer in parts ends at once: %s', async (accept) => {
  await using over = await startOverLarge();
  const { fake, gateway, variables, releaseLarge } = over;
  const answer = await askInParts(gateway.url, { query: IN_PARTS, variables, accept });
  expect(await answer.next()).toMatchObject({ data: { large: { address: variables.large } } });
  releaseLarge();
  const parts = await answer.rest();
  expect(parts.at(-1)).toMatchObject({ hasNext: false });
  expect(JSON.stringify(parts.at(-1))).toContain('OPERATION_TOO_COMPLEX');
  await eventually(() => fake.requestsFor(variables.slow)[0]?.abandoned === true);
  await requestsToBe(gateway.url, 0);
  expect(fake.requests.length).toBeLessThan(20);
});

test('a request that another client waits for goes on', async () => {
  await using over = await startOverLarge();
  const { fake, gateway, variables, releaseLarge, releaseSlow } = over;
  const { slow } = variables;
  releaseLarge();
  const other = gateway.query(
    'query ($slow: Address!) { wallet(address: $slow) { transactions(first: 3) { nodes { hash } } } }',
    { slow },
  );
  await requestsToBe(gateway.url, 1);
  expect(codesOf(await gateway.query(QUERY, variables))).toEqual(['OPERATION_TOO_COMPLEX']);
  releaseSlow();
  expect(await other).toMatchObject({ data: { wallet: { transactions: { nodes: { length: 3 } } } } });
  expect(fake.requestsFor(slow)).toMatchObject([{ abandoned: false }]);
});

test('the only lookup of an operation is aborted as well, when something else of the answer is too large', async () => {
  await using over = await startOverLarge();
  const { fake, gateway, variables } = over;
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  await deliver(deliveryUrl, { body: { text: 'x'.repeat(500_000) } });
  const reply = await gateway.query(
    `query ($slow: Address!) {
      wallet(address: $slow) { transactions(first: 1000) { nodes { hash } } }
      a: deliveries { nodes { payload } } b: deliveries { nodes { payload } } c: deliveries { nodes { payload } }
    }`,
    { slow: variables.slow },
  );
  expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
  await eventually(() => fake.requestsFor(variables.slow)[0]?.abandoned === true);
});
