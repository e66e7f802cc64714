import { expect, test } from 'vitest';
import { DEMO_WALLETS } from '../../src/sandbox/demo-wallets.ts';
import { DEMO_WEBHOOKS } from '../../src/sandbox/webhooks/webhooks.ts';
import { readPage, rowsOf } from '../support/pages.ts';

const page = await readPage('docs/sandbox.md');

test('docs/sandbox.md lists every wallet of the sandbox, with what it shows, and no other', () => {
  const wallets = DEMO_WALLETS.map(({ name, address, shows }) => [name, `\`${address}\``, shows]);
  expect(rowsOf(page, 'wallet')).toEqual(wallets);
  expect(wallets.length).toBeGreaterThanOrEqual(20);
});

test('docs/sandbox.md lists every webhook that delivers from the start', () => {
  expect(rowsOf(page, 'webhook')).toEqual(DEMO_WEBHOOKS.map(({ id, type }) => [`\`${id}\``, type]));
});
