import { expect, test } from 'vitest';
import { createAuthenticate } from '../src/server/auth.ts';

/** Who pays where everyone may come in: nobody here has another network to come from than this machine's. */

const authenticate = createAuthenticate({
  mode: 'open',
  gatewayKey: 'held',
  keyHeader: 'X-Service-Api-Key',
  secret: 'a secret of the test',
});

const payerOf = (address: string) => authenticate({ get: () => null }, address).payer;

test.each([
  ['192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8::1', '2001:db8::2'],
  ['2001:db8::1', '2001:db8:0:0:1:2:3:4'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::9'],
])('%s and %s are one client', (one, other) => {
  expect(payerOf(one)).toBe(payerOf(other));
});

test.each([
  ['192.0.2.7', '192.0.2.8'],
  ['2001:db8::1', '2001:db9::1'],
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
])('%s and %s are two', (one, other) => {
  expect(payerOf(one)).not.toBe(payerOf(other));
});
