import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';

/** What a wallet holds, as the console shows it, in a real browser. */

const THIN = '0xcb7ace522be1c8d259cebcbc62d33b8026769aeb';
const UNPRICED = '0x1d4e25f4fe9abba6708219d06386c49b1169698e';
const DUST = '0xee601adb0f90615c187dd0f07d55620f2743c97d';
const DEFI = '0x1159de7cb44a331b4e0acf468f83527f210227f8';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' }, { readsChains: true });
});

afterAll(() => gateway[Symbol.asyncDispose]());

test('tokens that are left out of the total are named, each with its reason', async (context) => {
  needBrowser(context);
  const { data } = await gateway.query<{
    wallet: { portfolio: { totalUsd: string; countedBalances: number; excluded: { balances: number } } };
  }>(
    'query ($address: Address!) { wallet(address: $address) { portfolio { totalUsd countedBalances excluded { balances } } } }',
    { address: THIN },
  );
  const { totalUsd = '', countedBalances, excluded } = data?.wallet.portfolio ?? {};
  await using opened = await openPage(`${gateway.url}/#/wallet/${THIN}?tab=tokens`);
  const { page } = opened;
  const left = page.getByRole('region', { name: `Left out of the total: ${excluded?.balances}` });
  await left
    .getByRole('row', { name: /OMEGA .*Its price comes from a pool of \$1,233\.35, below \$10,000\.00/ })
    .waitFor();
  // Prices change with the hour. Each has enough digits for amount times price to be the value beside it.
  const fresh = page.getByRole('row', { name: /FRESH / });
  await fresh.waitFor();
  const [price = Number.NaN, value = Number.NaN] = (await fresh.innerText())
    .matchAll(/\$([\d,]+\.\d+)/g)
    .map(([, digits = '']) => Number(digits.replaceAll(',', '')));
  expect(Math.abs(price * 250 - value)).toBeLessThan(0.05);
  expect(await left.locator('tbody tr').count()).toBe(excluded?.balances);
  await page.getByRole('region', { name: `In the total: ${countedBalances}` }).waitFor();
  const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
  expect(await page.locator('.total').textContent()).toBe(dollars.format(Number(totalUsd)));
  await page.goto(`${gateway.url}/#/wallet/${UNPRICED}?tab=tokens&only=left`);
  await page.getByText('No market price is known.').first().waitFor();
  expect(opened.faults).toEqual([]);
});

test('tokens are searched and sorted over all that is loaded, and the link keeps both', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${DUST}?tab=tokens`);
  const { page } = opened;
  const values = (): Promise<string[]> => page.locator('.is-value').allTextContents();
  await page.getByText(/in 1,000 tokens loaded; there are more/).waitFor();
  const table = page.getByRole('region', { name: /^In the total/ });
  const before = await values();
  await table.getByRole('button', { name: 'Value' }).click();
  await expect.poll(values).not.toEqual(before);
  expect(await table.getByRole('columnheader', { name: 'Value' }).getAttribute('aria-sort')).toBe(
    'ascending',
  );
  const name = (await table.locator('tbody th strong').first().textContent()) ?? '';
  await page.getByLabel('Search').fill(name);
  await expect.poll(() => page.url()).toContain(`find=${name}`);
  await page.reload();
  await expect.poll(() => page.locator('tbody th strong').allTextContents()).toContain(name);
  expect((await page.locator('tbody tr').count()) < 1000).toBe(true);
  // The sum is that of the tokens that are found.
  await page.getByText(/in \d+ found of 1,000 tokens loaded; there are more/).waitFor();
  const price = (text: string) => Number(text.replaceAll(/[$,]/g, '')) || 0;
  const whole = await page.locator('.total').innerText();
  const parts = await table.locator('.is-value').allInnerTexts();
  expect(price(whole)).toBeCloseTo(
    parts.reduce((sum, text) => sum + price(text), 0),
    0,
  );
  await page.getByLabel('Search').fill('nothing is called so');
  await page.getByText(/^None of the 1,000 tokens/).waitFor();
});

test('of thousands of tokens those near the window are drawn, whatever the order and the place', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${DUST}?tab=tokens&only=counted`);
  const { page } = opened;
  const rows = page.locator('tbody tr[data-token]');
  await rows.first().waitFor();
  for (const loaded of ['2,000', '2,500']) {
    await page.getByRole('button', { name: /^Load more tokens/ }).click();
    await page.getByRole('button', { name: `All ${loaded}` }).waitFor();
  }
  const first = await rows.first().innerText();
  expect(await rows.count()).toBe(60);
  // The last one is as far down as all rows are tall.
  await expect
    .poll(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      return (
        (await rows.count()) > 0 &&
        (await rows
          .last()
          .boundingBox()
          .then((box) => (box?.y ?? 0) < 720))
      );
    })
    .toBe(true);
  const last = await rows.last().innerText();
  expect([await rows.count(), last === first]).toEqual([60, false]);
  await page.evaluate('scrollTo(0, 0)');
  await page.getByRole('button', { name: 'Value' }).click();
  await expect.poll(() => rows.first().innerText()).not.toBe(first);
  expect(await rows.count()).toBe(60);
  expect(opened.faults).toEqual([]);
});

test('DeFi positions cost what their button says, and stand by protocol with the roles of their assets', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${DEFI}?tab=defi`);
  const { page } = opened;
  const meter = page.locator('.cost-meter strong');
  const button = page.getByRole('button', { name: /^Read DeFi positions: \d+ CU$/ });
  await button.waitFor();
  // The wallet's name.
  await expect.poll(() => meter.textContent()).toBe('1 CU');
  await expect.poll(() => button.textContent()).toBe('Read DeFi positions: 20 CU');
  await button.click();
  const liquity = page.locator('.protocol', { hasText: 'Liquity V2' });
  await liquity.getByText('borrowed').waitFor();
  await liquity.getByText('collateral', { exact: true }).waitFor();
  expect(await meter.textContent()).toBe('21 CU');
  expect(await page.locator('[data-position]').count()).toBeGreaterThan(10);
  // The sandbox sends the value of a debt as the published sample has it: above zero. The price is of the hour.
  await page
    .locator('[data-position]', { hasText: 'variableDebtUSDC' })
    .getByText(/^-\$350\.\d\d$/)
    .first()
    .waitFor();
  await page.getByText(/-\$350\.\d\d are owed without a deposit beside them/).waitFor();
  const worth = async (locator: Locator) => Number((await locator.innerText()).replaceAll(/[$,]/g, ''));
  const sums = await Promise.all((await page.locator('.protocol h3 .push').all()).map(worth));
  const total = sums.reduce((sum, each) => sum + each, 0);
  expect(await worth(page.locator('.defi .total'))).toBeCloseTo(total, 0);
  expect(opened.faults).toEqual([]);
});
