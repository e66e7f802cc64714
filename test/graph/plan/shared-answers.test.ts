import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { collection, freshAddress, history } from '../../support/upstream/builders.ts';
import { servingCollectibles, servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/**
 * Equal operations share the bytes of one answer. A gateway that makes every answer anew is asked the same at the same
 * time: what a client sees never differs.
 */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());

const ONE = { 'x-service-api-key': 'the-key-of-the-first-client' };
const OTHER = { 'x-service-api-key': 'the-key-of-another-client' };

const fake = made.use(await startFakeWallets());
const clock = createTestClock();
const settings = {
  UPSTREAM_URL: fake.url,
  UPSTREAM_API_KEY: undefined,
  AUTH: 'key',
  DELIVERY_SECRET: 'the same for both gateways',
};
const fast = made.use(await startGateway(settings, { ...clock, readPath: 'fast' }));
const plain = made.use(await startGateway(settings, { ...clock, readPath: 'plain' }));

const TRANSACTIONS = `query ($address: Address!, $first: Int = 10) {
  wallet(address: $address) { transactions(first: $first) { nodes { hash chainId } pageInfo { endCursor } } }
}`;
const BOTH = `query ($address: Address!, $first: Int = 10) {
  wallet(address: $address) {
    transactions(first: $first) { edges { cursor node { id } } requestTime }
    collectibles(first: $first) { nodes { tokenId } }
  }
}`;
const BESIDE_ANOTHER = `query ($address: Address!) {
  wallet(address: $address) { transactions { nodes { hash } } }
  deliveries { head }
}`;

let address = '';
/** Makes upstream send this many items of the wallet from now on. */
const grow = (count: number): void => {
  fake.transactions.set(address, servingTransactions(history(count)));
  fake.collectibles.set(address, servingCollectibles(collection(count)));
};

beforeEach(() => {
  address = freshAddress();
  grow(3);
});

const comparable = (body: string): string => body.replace(/"requestId":"[^"]+"/g, '');

/** Returns what both gateways answer. */
const ask = async (document: string, headers = ONE, variables = {}) => {
  const [quick, slow] = await Promise.all(
    [fast, plain].map((gateway) => gateway.query(document, { address, ...variables }, headers)),
  );
  expect(comparable(quick?.body ?? '')).toBe(comparable(slow?.body ?? ''));
  expect(quick?.errors).toBeUndefined();
  return quick ?? expect.fail();
};

/** An answer is kept from its second time on. */
const askThrice = async (document: string) => {
  const first = await ask(document);
  await ask(document);
  await ask(document);
  return first;
};

describe.each([
  ['one list', TRANSACTIONS],
  ['two lists', BOTH],
])('an answer of %s', (_what, document) => {
  test('is repeated with a cost of its own, while its pages are fresh', async () => {
    const first = await ask(document);
    grow(4);
    expect(first.extensions.upstream.requests).toBeGreaterThan(0);
    const { requests } = first.extensions.upstream;
    for (let further = 0; further < 4; further += 1) {
      const next = await ask(document);
      expect(next.data).toEqual(first.data);
      expect(next.extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: requests });
    }
  });

  test('is made anew when its pages are too old', async () => {
    const first = await askThrice(document);
    grow(4);
    clock.advance(3_600_000);
    expect((await ask(document)).data).not.toEqual(first.data);
  });

  test('is made anew when a delivery names its wallet', async () => {
    const first = await askThrice(document);
    for (const gateway of [fast, plain]) {
      const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, ONE);
      expect(await deliver(deliveryUrl, { body: { transactions: [{ address, from: address }] } })).toBe(200);
    }
    grow(4);
    const next = await ask(document);
    expect(next.extensions.upstream.requests).toBeGreaterThan(0);
    expect(next.data).not.toEqual(first.data);
  });

  test('is never that of another key, of other variables, or of another wallet', async () => {
    const first = await askThrice(document);
    grow(4);
    expect((await ask(document, OTHER)).data).not.toEqual(first.data);
    expect((await ask(document, ONE, { first: 1 })).data).not.toEqual(first.data);
    address = freshAddress();
    grow(5);
    expect((await ask(document)).data).not.toEqual(first.data);
  });
});

test('an answer that holds more than pages is made anew', async () => {
  const head = async () =>
    (await fast.data<{ deliveries: { head: string } }>(BESIDE_ANOTHER, { address }, ONE)).deliveries.head;
  const before = await head();
  const { deliveryUrl } = await fast.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, ONE);
  expect(await deliver(deliveryUrl, { body: { transactions: [{ note: address }] } })).toBe(200);
  expect(await head()).not.toBe(before);
});
