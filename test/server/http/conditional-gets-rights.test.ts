import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectUnchanged, ifNot, notStored, tagOf } from '../../support/clients/conditional.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { byKey, withKey } from '../../support/gateway/keys.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { startTrusting } from '../../support/gateway/trusted.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** A tag opens nothing that its caller's rights and budget do not. */

const TRANSACTIONS = `query Transactions($address: Address!) {
  wallet(address: $address) { transactions(first: 10) { nodes { hash value } } }
}`;

let fake: FakeWallets;
beforeAll(async () => {
  fake = await startFakeWallets();
});
afterAll(() => fake[Symbol.asyncDispose]());

let address = '';
beforeEach(() => {
  address = freshAddress();
  fake.transactions.set(address, servingTransactions(history(30)));
});

test('a tag is worth nothing to another key, or without one', async () => {
  await using keyed = await startTrusting([TRANSACTIONS], { UPSTREAM_URL: fake.url, ...byKey });
  const ask = (headers: Record<string, string>) => keyed.get(TRANSACTIONS, { address }, headers);
  const first = await ask(withKey('one'));
  expect(first.headers.vary).toBe('Accept-Encoding, Origin, Accept, X-Service-Api-Key');
  expectUnchanged(await ask({ ...withKey('one'), ...ifNot(tagOf(first)) }));
  const other = await ask({ ...withKey('another'), ...ifNot(tagOf(first)) });
  expect(other.status).toBe(200);
  expect(tagOf(other).slice(0, 23)).not.toBe(tagOf(first).slice(0, 23));
  const none = await ask(ifNot(tagOf(first), '*'));
  expect(JSON.parse(none.text).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  notStored(none);
});

test('a tag is worth nothing to a token with other scopes, or of another tenant', async () => {
  await using jwt = await startTrusting([TRANSACTIONS], { UPSTREAM_URL: fake.url, ...byToken });
  const ask = async (claims: Record<string, unknown>, tag = '"none"') =>
    jwt.get(TRANSACTIONS, { address }, { ...bearer(await tokenOf(claims)), ...ifNot(tag) });
  const first = await ask({ scope: 'wallets' });
  expect(first.headers.vary).toBe('Accept-Encoding, Origin, Accept, Authorization');
  expectUnchanged(await ask({ scope: 'wallets' }, tagOf(first)));
  expect((await ask({ scope: 'wallets deliveries' }, tagOf(first))).status).toBe(200);
  expect((await ask({ scope: 'wallets', tenant: 'other' }, tagOf(first))).status).toBe(200);
  const forbidden = await ask({ scope: '' }, tagOf(first));
  expect(JSON.parse(forbidden.text).errors[0].extensions.code).toBe('FORBIDDEN');
  notStored(forbidden);
  const expired = await ask({ scope: 'wallets', exp: 1 }, tagOf(first));
  expect(JSON.parse(expired.text).errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test('an answer that is not sent costs its client nothing, and is checked as any other', async () => {
  const env = { UPSTREAM_URL: fake.url, CLIENT_COMPUTE_UNITS_PER_MINUTE: '2', CACHE_HEAD_MS: '3600000' };
  const { now } = createTestClock();
  await using bounded = await startTrusting([TRANSACTIONS], env, { now });
  const first = await bounded.get(TRANSACTIONS, { address });
  for (let further = 0; further < 10; further += 1)
    expectUnchanged(await bounded.get(TRANSACTIONS, { address }, ifNot(tagOf(first))));
  expect((await bounded.get(TRANSACTIONS, { address: freshAddress() })).status).toBe(200);
  const beyond = await bounded.get(TRANSACTIONS, { address }, ifNot(tagOf(first)));
  expect(JSON.parse(beyond.text).errors[0].extensions.code).toBe('COMPUTE_BUDGET_EXCEEDED');
  notStored(beyond);
});
