import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activity as activityList } from '../../src/lookups/activity.ts';
import { balances } from '../../src/lookups/balances/balances.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startDashboard } from '../support/clients/built-dashboard.ts';
import { activity, balanceChange, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { startGateway } from '../support/gateway/start.ts';
import { sampleOf } from '../support/lookups/samples.ts';
import { blocksOf, readPage, root } from '../support/pages.ts';
import {
  balance,
  collectible,
  freshAddress,
  hashOf,
  history,
  nativeBalance,
  transaction,
} from '../support/upstream/builders.ts';
import { serving, servingCollectibles, servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** examples/dashboard, installed and built as its README says, in a real browser beside the shipped gateway. */

/** It is built for one gateway, whose place that of each test takes. */
const PORT = String(await freePort());

let dashboard: Awaited<ReturnType<typeof startDashboard>>;

beforeAll(async () => {
  dashboard = await startDashboard();
});

afterAll(() => dashboard[Symbol.asyncDispose]());

const hashesIn = (page: Page, list: string): Promise<(string | null)[]> =>
  page.locator(`${list} [data-hash]`).evaluateAll((rows) => rows.map((row) => row.getAttribute('data-hash')));

/** The activities of these numbers, newest first. */
const events = (newest: number) => Array.from({ length: newest }, (_, index) => hashOf(newest - index));

test('the dashboard pages a wallet, follows events over a kill of the gateway and the loss of its log, and shows errors by their code', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  const [address, failing] = [freshAddress(), freshAddress()];
  const transactions = history(50);
  const hashes = transactions.map(({ hash }) => hash);
  fake.transactions.set(address, servingTransactions(transactions));
  fake.collectibles.set(address, servingCollectibles([collectible({ name: 'The only picture' })]));
  fake.transactions.set(failing, () => ({ status: 402, text: 'no quota' }));

  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-dashboard-data-'));
  const env = {
    ...{ UPSTREAM_URL: fake.url, UPSTREAM_API_KEY: 'unused', DATA_DIR: dataDir },
    ALLOWED_ORIGINS: dashboard.url,
    AUTH: 'open',
    PORT,
  };
  await using first = await spawnGateway(env);
  const { deliveryUrl } = await deliveriesOf(first.url);
  const deliverAll = async (from: number, to: number) => {
    for (let number = from; number <= to; number += 1)
      expect(await deliver(deliveryUrl, { type: 'activities', body: activity(number, address) })).toBe(200);
  };
  await dashboard.build(first.url);

  try {
    await using opened = await openPage(`${dashboard.url}/?address=${address}`);
    const { page } = opened;
    const more = page.getByRole('button', { name: 'Load more' });

    await expect.poll(() => hashesIn(page, 'table')).toEqual(hashes.slice(0, 20));
    await page.getByText('The only picture').waitFor();
    expect(await page.locator('table .number').nth(1).innerText()).toMatch(/^[\d.,]+ ETH$/);
    await more.click();
    await expect.poll(() => hashesIn(page, 'table')).toEqual(hashes.slice(0, 40));
    // The first page of each of the four lists has cost one unit here, and the second page of the transactions none.
    await page.locator('[data-compute-units="4"]').waitFor();

    await page.locator('[data-connection="connected"]').waitFor();
    // Another wallet's event is not shown here.
    await deliver(deliveryUrl, { type: 'activities', body: activity(100) });
    await deliverAll(1, 3);
    await expect.poll(() => hashesIn(page, '.events')).toEqual(events(3));

    await first.end('SIGKILL');
    await page.locator('[data-connection="closed"]').waitFor();
    await more.click();
    await page.locator('[data-code="UNREACHABLE"]').waitFor();
    expect(await hashesIn(page, 'table')).toEqual(hashes.slice(0, 40));
    await using second = await spawnGateway(env);
    expect(second.url).toBe(first.url);
    await deliverAll(4, 6);
    await expect.poll(() => hashesIn(page, '.events')).toEqual(events(6));
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => hashesIn(page, 'table')).toEqual(hashes);
    await deliverAll(7, 7);
    await expect.poll(() => hashesIn(page, '.events')).toEqual(events(7));

    // Without its log the gateway can't continue: the page reads again what it shows.
    await second.end('SIGKILL');
    for (const file of await readdir(dataDir))
      if (file.startsWith('deliveries.db')) await rm(join(dataDir, file));
    await using third = await spawnGateway(env);
    expect(third.url).toBe(first.url);
    await deliverAll(8, 8);
    await expect.poll(() => hashesIn(page, '.events')).toEqual([hashOf(8)]);

    await page.getByLabel('Wallet address').fill(failing);
    await page.keyboard.press('Enter');
    await page.locator('[data-code="QUOTA_EXCEEDED"]').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    fake.transactions.set(failing, servingTransactions(transactions));
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => hashesIn(page, 'table')).toEqual(hashes.slice(0, 20));

    expect(opened.faults).toEqual([]);
    expect(opened.strange.filter((url) => !url.startsWith(`${first.url}/graphql`))).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('the dashboard shows what a wallet is worth and what happened, and what a delivery has changed: a balance at once, without a request, then the rest', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  const address = freshAddress();
  const held = balance({ amount: '573000000' });
  fake.scriptsOf(balances).set(address, serving(balances, [held, nativeBalance()]));
  const items = Array.from({ length: 30 }, (_, place) => sampleOf(activityList).item(30 - place));
  fake.scriptsOf(activityList).set(address, serving(activityList, items));
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ALLOWED_ORIGINS: dashboard.url, PORT });
  await dashboard.build(gateway.url);

  await using opened = await openPage(`${dashboard.url}/?address=${address}`);
  const { page } = opened;
  const feed = page.getByRole('region', { name: 'Activity' });
  const portfolio = page.getByRole('region', { name: 'Portfolio' });
  const amounts = () =>
    portfolio
      .locator('[data-amount]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-amount')));
  await portfolio.getByText('$5,359.50').waitFor();
  expect(await amounts()).toEqual(['1500000000000000000', '573000000']);
  await feed.getByRole('button', { name: 'Load more' }).click();
  await feed.getByText('That is all.').waitFor();
  expect(await feed.locator('[data-hash]').count()).toBe(30);

  await page.locator('[data-connection="connected"]').waitFor();
  // The event has the balance: no answer of the service is needed to show it. The total comes with the next answer.
  const answered = Promise.withResolvers<void>();
  const later = serving(balances, [{ ...held, amount: '823000000', value_usd: 1234.5 }, nativeBalance()]);
  fake.scriptsOf(balances).set(address, async (request) => {
    await answered.promise;
    return later(request);
  });
  const newest = [sampleOf(activityList).item(32), sampleOf(activityList).item(31), ...items];
  const newerActivity = serving(activityList, newest);
  fake.scriptsOf(activityList).set(address, async (request) => {
    await answered.promise;
    return newerActivity(request);
  });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const body = balanceChange(address, String(held.address), '823000000');
  expect(await deliver(deliveryUrl, { type: 'balances', chainId: 1, body })).toBe(200);
  await portfolio.getByText('823 USDC').waitFor();
  expect(await amounts()).toEqual(['1500000000000000000', '823000000']);
  // So does an activity that is delivered: the list shows it before it is fetched again.
  expect(await deliver(deliveryUrl, { type: 'activities', body: activity(99, address) })).toBe(200);
  await expect.poll(() => feed.locator('[data-hash]').first().getAttribute('data-hash')).toBe(hashOf(99));
  expect(await feed.locator('[data-hash]').count()).toBe(31);
  answered.resolve();
  await portfolio.getByText('$5,734.50').waitFor();
  // What is new appears on top of all pages that were loaded.
  await expect.poll(() => feed.locator('[data-hash]').count()).toBe(32);
  expect(await hashesIn(page, 'section[aria-labelledby] .rows')).toEqual(newest.map((item) => item.tx_hash));

  // Which chains it asks for, its form and its URL say.
  const chainsAsked = () =>
    fake.requests
      .filter(({ path }) => path.includes('/balances/'))
      .map(({ query }) => new URLSearchParams(query).get('chain_ids'));
  expect(new Set(chainsAsked())).toEqual(new Set([null]));
  await page.getByLabel('Chain ids').fill('1, 8453');
  await page.keyboard.press('Enter');
  await expect.poll(() => chainsAsked().at(-1)).toBe('1,8453');
  expect(page.url()).toBe(`${dashboard.url}/?address=${address}&chainIds=1%2C8453`);
  await page.reload();
  expect(await page.getByLabel('Chain ids').inputValue()).toBe('1,8453');
  expect(opened.faults).toEqual([]);
});

test("the dashboard runs on a gateway with trusted documents, persisted by Relay's compiler as docs/frontends/relay.md says", async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  const address = freshAddress();
  const transactions = history(30);
  // An item that the gateway can't parse is missing, and the others are whole.
  const malformed = transactions.with(10, transaction({ hash: 'not a hash' }));
  fake.transactions.set(address, servingTransactions(malformed));
  const documents = dashboard.path('documents.json');
  const blocks = blocksOf(await readPage('docs/frontends/relay.md'), 'json');
  const persisting = blocks.find((block) => block.includes('persistConfig')) ?? '';
  await writeFile(dashboard.path('persisted.json'), '{}');
  await dashboard.build(`http://127.0.0.1:${PORT}`, JSON.parse(persisting));
  const cli = [
    join(root, 'src/cli/persist-documents.ts'),
    dashboard.path('persisted.json'),
    '--out',
    documents,
  ];
  await promisify(execFile)(process.execPath, cli);
  await using data = await folderOf({});
  const env = {
    UPSTREAM_URL: fake.url,
    PORT,
    DATA_DIR: data.path('data'),
    ALLOWED_ORIGINS: dashboard.url,
  };
  // Only a gateway that runs any document tells the test where to deliver.
  const open = await startGateway(env);
  const { deliveryUrl } = await deliveriesOf(open.url);
  await open.stop();
  await using gateway = await startGateway({ ...env, TRUSTED_DOCUMENTS: documents });

  await using opened = await openPage(`${dashboard.url}/?address=${address}`);
  const { page } = opened;
  await expect.poll(() => hashesIn(page, 'table')).toHaveLength(19);
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect
    .poll(() => hashesIn(page, 'table'))
    .toEqual(transactions.toSpliced(10, 1).map(({ hash }) => hash));
  await page.locator('[data-connection="connected"]').waitFor();
  expect(await deliver(deliveryUrl, { type: 'activities', body: activity(1, address) })).toBe(200);
  await expect.poll(() => hashesIn(page, '.events')).toEqual([hashOf(1)]);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(gateway.logLines.join('\n')).not.toContain('FORBIDDEN');
});

test('the dashboard has the versions that the project tests', async () => {
  const read = (path: string) => readFile(join(root, path), 'utf8');
  const versionsIn = async (path: string): Promise<Record<string, string>> => {
    const { dependencies, devDependencies } = JSON.parse(await read(path));
    return { ...dependencies, ...devDependencies };
  };
  const project = await versionsIn('package.json');
  const dashboard = Object.entries(await versionsIn('examples/dashboard/package.json'));
  expect(dashboard.length).toBeGreaterThan(8);
  expect(dashboard.filter(([name, version]) => (project[name] ?? version) !== version)).toEqual([]);
});
