import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';

/** The view of what a visit has cost, in a real browser. */

const COLLECTOR = '0x0ac45263881f082a3b14f48ede96f5f9b2ec9b86';

test('each answer says why it cost what it did, and the chart what the cache has saved', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${COLLECTOR}?tab=collectibles`);
  const { page } = opened;
  await page.locator('.card').first().waitFor();
  // Another visitor of the same gateway gets the page that it has kept.
  await using second = await openPage(`${gateway.url}/#/wallet/${COLLECTOR}?tab=collectibles`);
  await second.page.locator('.card').first().waitFor();
  for (const { page: each, reason, bar } of [
    {
      page,
      reason: /1 request × \d+ chains; choose chains to pay less/,
      bar: /: (\d+) CU: \1 WalletCollectibles/,
    },
    { page: second.page, reason: /from cache/, bar: /: (\d+) CU: \1 saved by the cache, about/ },
  ]) {
    await each.getByRole('link', { name: 'Cost' }).click();
    await each
      .getByRole('row', { name: /WalletCollectibles/ })
      .getByText(reason)
      .waitFor();
    const chart = each.getByRole('slider', { name: 'CU since the visit began' });
    // A bar is a second or more, and none is in the future.
    expect(Number(await chart.getAttribute('aria-valuemax'))).toBeLessThan(30);
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toMatch(bar);
  }
  // What a reload forgets of the visit stays in the sum of the day.
  const paid = (await page.getByText(/^Today: /).innerText()).match(/Today: (\d+) CU/)?.[1];
  expect(Number(paid)).toBeGreaterThan(0);
  await page.reload();
  await page.getByText(`Today: ${paid} CU`).waitFor();
  await page.getByText('over all visits with this browser').waitFor();
  expect([...opened.faults, ...second.faults]).toEqual([]);
});
