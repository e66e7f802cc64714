import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activity } from '../../src/lookups/activity.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { addressOf, freshAddress, hashOf, history, timeAt } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** What happened to a wallet, as the console says it, in a real browser. */

const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';
const APPROVER = '0xb3cf83bcc8153cb9bd8aba4d18e514903bbe4f8d';
const SWAPPER = '0x3754a763029f7ce2b064d90049d057d69ac794f6';

/** No block comes while a test reads. */
const STILL = { SANDBOX_BLOCK_MS: '3600000', CACHE_HEAD_MS: '600000' };

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway(STILL);
});

afterAll(() => gateway[Symbol.asyncDispose]());

const rowsOf = (page: Page) => page.locator('[data-activity]');
const hashesOf = (page: Page): Promise<(string | null)[]> =>
  rowsOf(page).evaluateAll((rows) => rows.map((row) => row.getAttribute('data-activity')));

const paramsOf = (page: Page): URLSearchParams => new URLSearchParams(page.url().split('?')[1] ?? '');

const spent = (page: Page): Promise<string | null> => page.locator('.cost-meter strong').textContent();

type Loaded = {
  wallet: {
    activity: {
      nodes: {
        type: string;
        transactionHash: string;
        valueUsd: string | null;
        blockTime: string;
        lowLiquidity: boolean | null;
        token: { symbol: string | null } | null;
      }[];
    };
  };
};

const QUERY = `query ($address: Address!) { wallet(address: $address) { activity(first: 100) { nodes {
  type transactionHash valueUsd blockTime lowLiquidity token { symbol } } } } }`;

test('the biggest transfer of the loaded ones is on the page, and comes first when it is asked for', async (context) => {
  needBrowser(context);
  const { data } = await gateway.query<Loaded>(QUERY, { address: WHALE });
  const transfers = (data?.wallet.activity.nodes ?? []).filter(
    ({ type, lowLiquidity, valueUsd }) =>
      (type === 'SEND' || type === 'RECEIVE') && valueUsd !== null && lowLiquidity !== true,
  );
  const [biggest] = transfers.toSorted((one, other) => Number(other.valueUsd) - Number(one.valueUsd));
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?tab=activity`);
  const { page } = opened;
  await rowsOf(page).first().waitFor();
  await page.getByLabel('Kind').selectOption('transfer');
  await page.getByLabel('Sort').selectOption('biggest');
  await expect.poll(async () => (await hashesOf(page))[0]).toBe(biggest?.transactionHash);
  expect([paramsOf(page).get('sort'), paramsOf(page).get('kind')]).toEqual(['biggest', 'transfer']);
  await page
    .getByText(/^Showing \d+ of \d+ transactions loaded, with \d+ of 100 activities\. The wallet has more\.$/)
    .waitFor();
  await page.getByRole('button', { name: 'Open the biggest transfer' }).click();
  expect(paramsOf(page).get('open')).toBe(biggest?.transactionHash);
  // Filters, order and the opened row are the link's.
  await page.reload();
  await page.getByRole('button', { name: /^Close/ }).waitFor();
  expect((await hashesOf(page))[0]).toBe(biggest?.transactionHash);
  // A list that a filter shortens does not load by itself: that would spend.
  expect(await page.getByRole('button', { name: 'Load more activities: 3 CU' }).count()).toBe(1);
  expect(opened.faults).toEqual([]);
});

test('a transaction says who gave what to whom for nothing, and its call and events for what the button says', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${SWAPPER}?tab=activity`);
  const { page } = opened;
  const row = rowsOf(page)
    .filter({ hasText: /Swapped .+ for .+/ })
    .first();
  await row.getByRole('button', { name: /What happened/ }).click();
  const flow = row.getByRole('figure', { name: 'Who gave what to whom' });
  expect(await flow.textContent()).toMatch(/this wallet gave .+this wallet got /);
  expect(await spent(page)).toBe('3 CU');
  await row.getByRole('button', { name: 'Read its call, events and data: about 1 CU' }).click();
  await row.getByRole('heading', { name: /^Events: [1-9]/ }).waitFor();
  await row
    .getByText(/[\d,.]+ \w+ from swapper to 0x/)
    .first()
    .waitFor();
  expect(await spent(page)).toBe('4 CU');
  await row.getByText('Raw JSON').click();
  const json = row.getByLabel('JSON', { exact: true });
  await json.filter({ hasText: `"transactionHash": "${paramsOf(page).get('open')}"` }).waitFor();
  expect(opened.faults).toEqual([]);
});

test('filters find by side, kind, token, amount, text and day, and the link keeps them', async (context) => {
  needBrowser(context);
  const { data } = await gateway.query<Loaded>(QUERY, { address: WHALE });
  const nodes = data?.wallet.activity.nodes ?? [];
  const hashes = (passes: (node: (typeof nodes)[number]) => boolean): string[] => [
    ...new Set(nodes.filter(passes).map(({ transactionHash }) => transactionHash)),
  ];
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?tab=activity`, { timezoneId: 'UTC' });
  const { page } = opened;
  const shows = async (passes: Parameters<typeof hashes>[0]) => {
    await expect.poll(() => hashesOf(page)).toEqual(hashes(passes));
    await page.getByRole('button', { name: 'Clear filter and sort' }).click();
    // More rows of the loaded ones are drawn when the page is scrolled.
    await expect
      .poll(async () => (await hashesOf(page)).slice(0, 30))
      .toEqual(hashes(() => true).slice(0, 30));
  };
  await rowsOf(page).first().waitFor();
  await page.getByText('More filters').click();
  await page.getByLabel('Kind').selectOption('received');
  await shows(({ type }) => type === 'RECEIVE');
  await page.getByLabel('Direction').selectOption('in');
  await shows(({ type }) => ['RECEIVE', 'MINT', 'SWAP'].includes(type));
  await page.getByLabel('At least, in $').fill('600');
  await page.getByLabel('Kind').selectOption('transfer');
  await shows(
    ({ type, valueUsd, lowLiquidity }) =>
      (type === 'SEND' || type === 'RECEIVE') && Number(valueUsd) >= 600 && lowLiquidity !== true,
  );
  const [first] = nodes;
  await page.getByLabel('Search').fill(first?.transactionHash.slice(0, 20) ?? '');
  await shows(({ transactionHash }) => transactionHash === first?.transactionHash);
  // A day of the year, by keyboard: the newest one has the focus.
  const day = first?.blockTime.slice(0, 10) ?? '';
  await page.locator('.year rect[tabindex="0"]').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => paramsOf(page).get('from')).toBe(day);
  await page.reload();
  await shows(({ blockTime }) => blockTime.startsWith(day));
  await page.getByLabel('Search').fill('nothing is called so');
  await page.getByText('None of the loaded activities match.').waitFor();
  expect(await spent(page)).toBe('0 CU');
});

test('an approval of nothing is a revocation in every list, and is found as one', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${APPROVER}?tab=activity&kind=revoked`);
  const { page } = opened;
  const row = rowsOf(page).first();
  await row.getByText(/^Revoked the allowance of .* for \w+/).waitFor();
  await row.getByRole('button', { name: /What happened/ }).click();
  await row.getByText('revoked: may no longer spend').waitFor();
  await row.getByRole('button', { name: /^Read its call/ }).click();
  await row
    .getByText(/^\s*revocation /)
    .first()
    .waitFor();
  await page.getByRole('tab', { name: 'Transactions' }).click();
  await page
    .locator('.call', { hasText: /^revocation / })
    .first()
    .waitFor();
});

test('a failed transaction looks failed, and says so when it is opened', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const [good, bad] = history(2);
  fake.transactions.set(
    address,
    servingTransactions([
      { ...good, success: true },
      { ...bad, success: false },
    ] as never),
  );
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}?tab=transactions`);
  const { page } = opened;
  const failed = page.locator('.transaction.is-failed');
  await failed.waitFor();
  expect(await page.locator('.transaction').count()).toBe(2);
  await failed.getByRole('button', { name: /details/i }).click();
  await failed.getByText('It was reverted: nothing moved', { exact: false }).waitFor();
});

test('hostile names stay text, absurd prices are not believed, and all of it fits 360 pixels', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const payload = `<img src=x onerror="document.title='taken'">${'x'.repeat(5000)}`;
  const base = { chain_id: 1, block_number: 1, block_time: timeAt(0), from: addressOf(7) };
  const token = { symbol: payload, name: payload, decimals: 18, pool_size: 9.4, price_usd: 1e21 };
  const items = [
    {
      ...base,
      tx_hash: hashOf(1),
      type: 'receive',
      asset_type: 'erc20',
      token_address: addressOf(8),
      value: '9'.repeat(70),
      value_usd: 5.6e31,
      token_metadata: token,
    },
    {
      ...base,
      tx_hash: hashOf(2),
      type: 'receive',
      asset_type: 'native',
      token_address: 'native',
      value: '1500000000000000000',
      value_usd: 4500,
    },
    { ...base, tx_hash: hashOf(3), type: payload, value: '1' },
    {
      ...base,
      tx_hash: hashOf(4),
      type: 'call',
      function: { name: payload, inputs: [{ name: payload, value: { a: [payload] } }] },
      contract_metadata: { name: payload },
    },
  ];
  fake.scriptsOf(activity).set(address, () => ({ json: { activity: items } }));
  const viewport = { width: 360, height: 800 };
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}?tab=activity&sort=biggest`, {
    viewport,
  });
  const { page } = opened;
  await rowsOf(page).first().waitFor();
  expect((await hashesOf(page))[0]).toBe(hashOf(2));
  await page.getByText('no reliable price').first().waitFor();
  for (const hash of [1, 3, 4].map(hashOf)) {
    await page
      .locator(`[data-activity="${hash}"]`)
      .getByRole('button', { name: /What happened/ })
      .click();
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect([hash, overflow]).toEqual([hash, 0]);
  }
  expect(await page.title()).not.toBe('taken');
  expect(opened.faults).toEqual([]);
});
