import { expect, test } from 'vitest';
import { LOOKUPS } from '../../src/backend/endpoints/registry.ts';
import { DEMO_WALLETS } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { DEMO_WEBHOOKS } from '../../src/backend/sandbox/sandbox.ts';
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

test('docs/sandbox.md lists every lookup with its price', () => {
  const price = (computeUnits: (chains: number) => number) => {
    const [one, two] = [computeUnits(1), computeUnits(2)];
    return one === two ? `${one}` : `${one} for each chain`;
  };
  const listed = rowsOf(page, 'lookup').map(([, path, cost]) => [path, cost]);
  // One balance is of one chain, so its price is that of one.
  const expected = LOOKUPS.map(({ path, computeUnits }) => [
    `\`${path}\``,
    path.endsWith('/token/{token_address}') ? `${computeUnits(1)}` : price(computeUnits),
  ]);
  expect(listed).toEqual(expected);
});
