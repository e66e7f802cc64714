import { expect, test } from 'vitest';
import { KEY } from '../backend/explorer/support/asking.ts';
import { madeUp, TOKEN, WALLET } from '../support/blockscout/made-up.ts';
import { startBlockscout } from '../support/blockscout/server.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';

/** The console over simulated explorers: the hosted API, and an instance. */

test('over explorers the console names them, leads to their pages, and offers nothing that they have not', async (context) => {
  needBrowser(context);
  await using hosted = await startBlockscout({
    chains: [{ id: 1, contents: madeUp() }],
    hosted: { key: KEY, perSecond: 1_000 },
  });
  await using instance = await startBlockscout({ chains: [{ id: 100, contents: madeUp({}, 100) }] });
  await using gateway = await startGateway(
    { BLOCKSCOUT: `1,100=${instance.url}`, BLOCKSCOUT_API_KEY: KEY, BLOCKSCOUT_URL: hosted.url },
    { readsChains: true },
  );
  const ETHEREUM = 'https://eth.blockscout.com';
  await using opened = await openPage(`${gateway.url}/#/wallet/${WALLET}`);
  const { page } = opened;
  const main = page.getByRole('main');
  const links = (text: RegExp) =>
    main
      .getByRole('link', { name: text })
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));

  const footer = page.getByRole('contentinfo');
  await footer.getByRole('link', { name: 'Blockscout' }).waitFor();
  expect(await footer.innerText()).toBe('Powered by Blockscout');
  await main.getByText('At today’s price: Blockscout has no earlier ones.').waitFor();
  expect(await links(/^(ethereum|gnosis)$/)).toEqual([
    `${ETHEREUM}/address/${WALLET}`,
    `${instance.url}/address/${WALLET}`,
  ]);
  expect(await page.getByRole('tab').allInnerTexts()).toEqual([
    ...['Overview', 'Activity', 'Tokens', 'Collectibles', 'Approvals', 'Transactions'],
  ]);
  expect(await page.locator('.changes').count()).toBe(0);
  expect(await page.getByText(/^(Watch|Live|Webhooks)/).count()).toBe(0);

  for (const [tab, row] of [
    ['Activity', '[data-activity]'],
    ['Transactions', '[data-hash]'],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click();
    await page.locator(row).first().waitFor();
    const ofRow = page.locator(row, { hasText: 'ethereum' }).first();
    const hash = await ofRow.evaluate(
      (li) => li.getAttribute('data-activity') ?? li.getAttribute('data-hash'),
    );
    expect(await links(/^In Blockscout$/)).toContain(`${ETHEREUM}/tx/${hash}`);
  }
  await page.getByRole('tab', { name: 'Activity' }).click();
  await main.getByText('At today’s price: Blockscout has no earlier ones.').last().waitFor();
  await main.getByTitle('At today’s price').first().waitFor();
  // Strangers make amounts of any length: they are shortened, and whole when they are pointed at.
  const long = main.getByTitle(/1,606,938,044,258,990,275,541,962,092,341,162/).first();
  await long.getByText('1.60 × 10⁴²').waitFor();
  for (const width of [400, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  }

  await page.getByRole('tab', { name: 'Tokens' }).click();
  await page.locator('[data-token]').first().waitFor();
  expect(await page.locator('.token-table th').allInnerTexts()).not.toContain('24 h');

  await page.getByRole('tab', { name: 'Collectibles' }).click();
  await page
    .getByRole('button', { name: /^Details of/ })
    .first()
    .click();
  const details = page.getByRole('dialog');
  await details.getByRole('link', { name: 'In Blockscout' }).first().waitFor();
  await details.getByRole('button', { name: 'Close' }).click();

  await page.goto(`${gateway.url}/#/token/1:${TOKEN}`);
  await main.getByText('At today’s price: Blockscout has no earlier ones.').waitFor();
  expect(await links(/^In Blockscout$/)).toEqual([`${ETHEREUM}/token/${TOKEN}`]);
  expect(await page.getByText(/price history/i).count()).toBe(0);
  await page.getByRole('button', { name: /largest/ }).click();
  await page.getByRole('table').waitFor();
  expect(await page.locator('.holders th').allInnerTexts()).not.toContain('Since');

  await page.goto(`${gateway.url}/#/live`);
  await main.getByText('No events arrive').waitFor();
  expect([opened.strange, opened.faults]).toEqual([[], []]);
});
