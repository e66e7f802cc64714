import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { startGateway } from '../support/gateway/start.ts';
import { byToken, tokenOf } from '../support/gateway/tokens.ts';

/** The console while its gateway comes and goes, and in several tabs. In a real browser. */

const METRONOME = '0x855edb1968ddbd5b29bc4df20dc38ae071149075';

/** At 50 KB a second and 400 ms a request, what comes before the first number leaves it within three seconds. */
const MOST_BYTES = 50_000;
const MOST_FILES = 4;

test('the first view of a package needs few bytes and files, and the other views come when they are opened', async (context) => {
  needBrowser(context);
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-console-'));
  await using gateway = await spawnGateway({ DATA_DIR: dataDir, SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage('about:blank');
  const { page } = opened;
  const loaded: { url: string; bytes: number }[] = [];
  page.on('requestfinished', async (request) => {
    const { pathname, origin } = new URL(request.url());
    if (origin !== gateway.url || !/^\/(console\/.*)?$/.test(pathname)) return;
    const { responseHeadersSize, responseBodySize } = await request.sizes();
    loaded.push({ url: pathname, bytes: responseHeadersSize + responseBodySize });
  });
  await page.goto(`${gateway.url}/#/wallet/${METRONOME}`);
  await page.locator('.overview .total').waitFor();
  await expect.poll(() => loaded.length).toBeGreaterThan(2);
  const first = [...loaded];
  expect(first.length).toBeLessThanOrEqual(MOST_FILES);
  expect(first.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MOST_BYTES);
  await page.getByRole('tab', { name: 'Activity' }).click();
  await page.locator('[data-activity]').first().waitFor();
  for (const name of ['Live', 'Webhooks', 'Cost']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('main').getByRole('heading', { level: 2 }).first().waitFor();
  }
  await rm(dataDir, { recursive: true, force: true });
});

test('a gateway that is gone is said at once in any view, and what failed is asked again once it is back', async (context) => {
  needBrowser(context);
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-console-'));
  const env = { DATA_DIR: dataDir, SANDBOX_BLOCK_MS: '3600000' };
  try {
    await using first = await spawnGateway(env);
    await using opened = await openPage(`${first.url}/#/cost`);
    const { page } = opened;
    await page.goto(`${first.url}/#/wallet/${METRONOME}?tab=activity`);
    await page.locator('[data-activity]').first().waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.locator('.overview .total').waitFor();
    await first.end('SIGKILL');
    const notice = page.getByRole('banner').getByText('Disconnected: trying again');
    await notice.waitFor();
    await page.getByRole('button', { name: /^Refresh/ }).click();
    await page.getByText('The gateway does not answer').waitFor();
    await using second = await spawnGateway({ ...env, PORT: new URL(first.url).port });
    expect(second.url).toBe(first.url);
    await page.locator('.overview .total').waitFor();
    await notice.waitFor({ state: 'detached' });
    expect(opened.faults).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('a gateway that hangs is said not to answer, and a watch that is lost with a restart is no longer shown', async (context) => {
  needBrowser(context);
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-console-'));
  const env = { DATA_DIR: dataDir, SANDBOX_BLOCK_MS: '3600000' };
  try {
    await using first = await spawnGateway(env);
    await using opened = await openPage(`${first.url}/#/wallet/${METRONOME}?tab=activity`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Watch metronome' }).click();
    await page.getByRole('button', { name: /stop/ }).waitFor();
    const notice = page.getByRole('banner').getByText('Disconnected: trying again');
    // It keeps its connections open.
    first.child.kill('SIGSTOP');
    await notice.waitFor();
    first.child.kill('SIGCONT');
    await notice.waitFor({ state: 'detached' });
    await first.end('SIGKILL');
    await notice.waitFor();
    await using second = await spawnGateway({ ...env, PORT: new URL(first.url).port });
    expect(second.url).toBe(first.url);
    await notice.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Watch metronome' }).waitFor();
    expect(opened.faults).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('a link that is opened in another tab keeps the credentials, and signing out ends them in both', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ ...byToken, SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/`);
  const { page } = opened;
  await page.getByLabel('Token', { exact: true }).fill(await tokenOf({ scope: 'wallets' }));
  await page.getByText(/^It expires at /).waitFor();
  await page.keyboard.press('Enter');
  const link = page.getByRole('link', { name: 'metronome' });
  const opening = page.context().waitForEvent('page');
  // Debian's Chromium 156 without windows often crashes when Control and a click open a tab.
  await link.evaluate((element) => element.setAttribute('target', '_blank'));
  await link.click();
  const other = await opening;
  await other.locator('.overview .total').waitFor();
  await other.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Enter your token' }).waitFor();
  await other.reload();
  await other.getByRole('heading', { name: 'Enter your token' }).waitFor();
});
