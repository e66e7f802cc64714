import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../../support/clients/browser.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { byToken, tokenOf } from '../../support/gateway/tokens.ts';

/** GraphiQL in a real browser, without a network beyond this machine. */

const answer = async (page: Page) => (await page.locator('.graphiql-response').textContent()) ?? '';

const answers = async (page: Page, holds: (text: string) => boolean): Promise<string> => {
  for (let tries = 0; tries < 450; tries += 1) {
    const text = await answer(page).catch(() => '');
    if (holds(text)) return text;
    await page.waitForTimeout(100);
  }
  throw new Error(`expected another answer than: ${await answer(page)}`);
};

test('GraphiQL opens on a query that works and a subscription that shows events', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '300' });
  await using opened = await openPage(`${gateway.url}/graphql`);
  const { page } = opened;
  await page.getByRole('tab').nth(1).waitFor();
  // A tab's text ends in that of its icon.
  const [first, second] = await page.getByRole('tab').allTextContents();
  expect([first, second]).toEqual([expect.stringMatching(/^Transactions/), expect.stringMatching(/^Events/)]);
  await page.locator('.graphiql-execute-button').click();
  // Only the lines in view are in the document.
  expect(await answers(page, (text) => text.includes('blockTime'))).toContain('"hash"');
  await page.getByRole('tab').nth(1).click();
  await page.locator('.graphiql-execute-button').click();
  // The events of before stay below the newest.
  const list = await answers(page, (text) => /"received":(?!1,)/.test(text.replace(/\s/g, '')));
  expect(list).toContain('newestFirst');
  expect([opened.strange, opened.faults]).toEqual([[], []]);
});

test('GraphiQL has the credentials of the console that opens it, for its tab alone, and fits a phone', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ ...byToken, SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/webhooks`, { viewport: { width: 360, height: 740 } });
  const { page } = opened;
  await page.getByLabel('Token', { exact: true }).fill(await tokenOf());
  await page.keyboard.press('Enter');
  await page.getByRole('listitem').first().waitFor();
  const opening = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'API' }).click();
  const graphiql = await opening;
  await graphiql.locator('.graphiql-execute-button').click();
  expect(await answers(graphiql, (text) => text.includes('"data"'))).not.toContain('UNAUTHENTICATED');
  const overflow = await graphiql.evaluate('document.documentElement.scrollWidth - window.innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  expect((await graphiql.locator('.graphiql-response').boundingBox())?.width).toBeGreaterThan(240);
  const kept = await graphiql.evaluate('JSON.stringify(localStorage)');
  expect(kept).not.toContain('Bearer');
});
