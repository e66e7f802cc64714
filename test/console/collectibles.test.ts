import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';
import { addressOf, collectible, freshAddress } from '../support/upstream/builders.ts';
import { servingCollectibles } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** A wallet's collectibles, in a real browser. */

const [HERONS, KEYS] = [addressOf(0xaa01), addressOf(0xaa02)];

const SIGNALS = [
  { feature: 'unique_buyers', value: 160, feature_score: 0, feature_weight: 0.25 },
  { feature: 'externally_flagged', value: true, feature_score: 100, feature_weight: 0.5 },
  { feature: 'trade_volume', value: 4, feature_score: 80, feature_weight: 0.25 },
  { feature: 'unique_sellers', value: null },
];

const ITEMS = [
  collectible({
    contract_address: HERONS,
    token_id: '7',
    name: 'Tidal Herons #7',
    symbol: 'HERON',
    last_sale_price: '0.5',
  }),
  collectible({
    contract_address: KEYS,
    token_id: '1',
    name: 'Orchard Keys #1',
    symbol: 'KEYS',
    description: 'Opens the orchard.',
    metadata: { attributes: [{ key: 'Metal', value: 'Brass' }] },
    is_spam: true,
    spam_score: 70,
    explanations: SIGNALS,
  }),
  collectible({ contract_address: HERONS, token_id: '8', name: '', symbol: 'HERON' }),
];

const titlesIn = (page: Page, collection: string): Promise<string[]> =>
  page.getByRole('region', { name: collection }).getByRole('listitem').getByRole('button').allTextContents();

test('collectibles stand in their collections; one opens to its traits and the weighted reasons of its spam score', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.collectibles.set(address, servingCollectibles(ITEMS));
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}?tab=collectibles`);
  const { page } = opened;
  await page.getByRole('region', { name: 'Collection Orchard Keys' }).waitFor();
  expect(await titlesIn(page, 'Collection Tidal Herons')).toEqual([
    expect.stringContaining('Tidal Herons #7'),
    expect.stringContaining('HERON #8'),
  ]);
  // No document says of which currency it is.
  await page.getByText('Last sale 0.5 in the service’s unit').waitFor();
  await page.getByRole('checkbox', { name: /^Show spam too \d+ CU$/ }).waitFor();
  const meter = page.locator('.cost-meter strong');
  const spent = await meter.textContent();

  await page.getByRole('button', { name: /Orchard Keys #1/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Orchard Keys #1' });
  await dialog.getByText('Opens the orchard.').waitFor();
  expect(await dialog.locator('.traits > div').allInnerTexts()).toEqual(['Metal\nBrass']);
  await dialog.getByRole('meter').getByText('70 of 100').waitFor();
  await dialog.getByText(/classifies it as spam/).waitFor();
  // What each adds to the average, the most first: together they are the score.
  const reasons = await dialog.locator('.signals > li').allInnerTexts();
  expect(reasons.map((reason) => reason.split('\n').slice(0, 2))).toEqual([
    ['Flagged by third parties: yes', '+50'],
    ['Trades since the launch: 4', '+20'],
    ['Distinct buyers: 160', '+0'],
    ['Distinct sellers: unknown', 'not counted'],
  ]);
  const widths = await dialog
    .locator('.signals svg rect')
    .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('width')));
  expect(widths).toEqual(['100%', '100%', '50%', '40%', '50%', '0%', '0%', '0%']);
  expect(await meter.textContent()).toBe(spent);

  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Orchard Keys #1');
  await page.getByRole('checkbox', { name: /^Show spam too/ }).click();
  await page.getByText(/^\d+ of 3 loaded are spam$/).waitFor();
  expect(opened.faults).toEqual([]);
});
