import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { need } from '../support/available.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { byToken } from '../support/gateway/tokens.ts';

/** GraphiQL in a real browser, without a network beyond this machine. */

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM ?? BROWSERS.find((path) => existsSync(path));

const launch = (path: string): Promise<Browser> =>
  chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-gpu'] });

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
  need(
    context,
    executablePath !== undefined,
    'a Chromium (Debian: apt-get install chromium), or CHROMIUM set to one',
  );
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '300' });
  const browser = await launch(executablePath ?? '');
  try {
    const page = await browser.newPage();
    const strange: string[] = [];
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol.startsWith('http') && host !== new URL(gateway.url).host) strange.push(request.url());
    });
    const refused: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) refused.push(message.text());
    });
    await page.goto(`${gateway.url}/graphql`);
    await page.getByRole('tab').nth(1).waitFor();
    // A tab's text ends in that of its icon.
    const [first, second] = await page.getByRole('tab').allTextContents();
    expect([first, second]).toEqual([
      expect.stringMatching(/^Transactions/),
      expect.stringMatching(/^Events/),
    ]);
    await page.locator('.graphiql-execute-button').click();
    // Only the lines in view are in the document.
    expect(await answers(page, (text) => text.includes('blockTime'))).toContain('"hash"');
    await page.getByRole('tab').nth(1).click();
    await page.locator('.graphiql-execute-button').click();
    expect(await answers(page, (text) => text.includes('receivedAt'))).toContain('"cursor"');
    expect(strange).toEqual([]);
    expect(refused).toEqual([]);
  } finally {
    await browser.close();
  }
});
