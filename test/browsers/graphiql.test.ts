import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { byToken } from '../support/gateway/tokens.ts';

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

test.each([
  ['open', {}, 'WS'],
  ['jwt', byToken, 'SSE'],
  ['key', { AUTH: 'key', UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: undefined }, 'SSE'],
])('with AUTH=%s GraphiQL subscribes by what its headers go by', async (_mode, env, protocol) => {
  await using gateway = await startGateway(env);
  const page = await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } });
  expect(await page.text()).toContain(`"subscriptionsProtocol":"${protocol}"`);
});

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
  expect(await answers(page, (text) => text.includes('receivedAt'))).toContain('"cursor"');
  expect([opened.strange, opened.faults]).toEqual([[], []]);
});
