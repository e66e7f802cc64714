import { expect, test } from 'vitest';
import { authenticateAnyone } from '../../src/server/auth/authenticate.ts';

/** With AUTH=open each network address has its own budget. The addresses are passed in: a test has only its own machine's. */

const authenticate = authenticateAnyone('held');

const payerOf = async (address: string) => (await authenticate({ get: () => null }, address)).billingKey;

test.each([
  ['192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8::1', '2001:db8::2'],
  ['2001:db8::1', '2001:db8:0:0:1:2:3:4'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::9'],
])('%s and %s are one client', async (one, other) => {
  expect(await payerOf(one)).toBe(await payerOf(other));
});

test.each([
  ['192.0.2.7', '192.0.2.8'],
  ['2001:db8::1', '2001:db9::1'],
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
])('%s and %s are two', async (one, other) => {
  expect(await payerOf(one)).not.toBe(await payerOf(other));
});
