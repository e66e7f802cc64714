import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { activity } from '../../src/lookups/activity.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { addressOf, freshAddress, hashOf, timeAt } from '../support/upstream/builders.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** What a list shows as a file, in a real browser. */

const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

const saved = async (page: Page, format: 'CSV' | 'JSON'): Promise<string> => {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: format, exact: true }).click(),
  ]);
  return readFile(await file.path(), 'utf8');
};

type Rows = readonly Readonly<Record<string, string | null>>[];

test('what is loaded and filtered is a file, exact to the last digit; more of it has a price and progress', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000', CACHE_HEAD_MS: '600000' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?tab=activity&kind=received`);
  const { page } = opened;
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^\d+ rows: what the list shows of 100 loaded\.$/).waitFor();
  const rows = JSON.parse(await saved(page, 'JSON')) as Rows;
  const { data } = await gateway.query<{
    wallet: {
      activity: { nodes: { type: string; value: string; transactionHash: string; valueUsd: string }[] };
    };
  }>(
    `{ wallet(address: "${WHALE}") { activity(first: 100) { nodes { type value transactionHash valueUsd } } } }`,
  );
  // A transaction that the filter finds is there with all that it did.
  const received = rows.filter(({ kind }) => kind === 'received');
  expect(
    received
      .map(({ transaction, amount_smallest_unit, value_usd }) => [
        transaction,
        amount_smallest_unit,
        value_usd,
      ])
      .toSorted(),
  ).toEqual(
    data?.wallet.activity.nodes
      .filter(({ type }) => type === 'RECEIVE')
      .map(({ transactionHash, value, valueUsd }) => [transactionHash, value, valueUsd])
      .toSorted(),
  );
  expect(received[0]).toMatchObject({
    direction: 'in',
    link: `${gateway.url}/#/tx/${received[0]?.chain_id}/${received[0]?.transaction}?wallet=${WHALE}`,
  });
  for (const { direction, from, to } of rows.filter((row) => row.direction !== null)) {
    expect(direction === 'in' ? to : from).toBe(WHALE);
    expect(direction === 'in' ? from : to).not.toBe(WHALE);
  }
  const csv = await saved(page, 'CSV');
  expect(csv.split('\r\n')).toHaveLength(rows.length + 2);

  await dialog.getByRole('button', { name: /^Load up to 5,000 first: 147 CU at most$/ }).click();
  await dialog.getByText(/^Loading: \d+ of at most 5,000 are here\.$/).waitFor();
  await dialog.getByRole('button', { name: 'Stop loading' }).click();
  await dialog.getByText(/^[\d,]+ rows: what the list shows of [2-9][\d,]* loaded\.$/).waitFor();
  expect(opened.faults).toEqual([]);
});

test('names that are formulas are text in a spreadsheet, amounts are whole, and no token is in the file', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...byToken });
  const address = freshAddress();
  const HOSTILE = [
    '=HYPERLINK("http://x")',
    '+1+1',
    '-2+3',
    '@SUM(1)',
    '\t=1',
    '\r=1',
    ' =1',
    '\u200b=1',
    '＝1',
  ];
  const items = HOSTILE.map((symbol, index) => ({
    ...{
      chain_id: 1,
      block_number: index,
      block_time: timeAt(index),
      tx_hash: hashOf(index),
      type: 'receive',
    },
    ...{ from: addressOf(7), to: address, asset_type: 'erc20', token_address: addressOf(100 + index) },
    ...{
      value: '123456789012345678901234567890',
      token_metadata: { symbol, name: 'a "name"', decimals: 18 },
    },
  }));
  fake.scriptsOf(activity).set(address, () => ({ json: { activity: items } }));
  const token = await tokenOf({ scope: 'wallets' });
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  await page.evaluate((secret) => sessionStorage.setItem('console:credentials', secret), token);
  await page.goto(`${gateway.url}/#/wallet/${address}?tab=activity`);
  await page.reload();
  await page.getByRole('button', { name: 'Export' }).click();
  const csv = await saved(page, 'CSV');
  const json = await saved(page, 'JSON');
  const rows = JSON.parse(json) as Rows;
  expect(rows.map(({ symbol }) => symbol)).toEqual(HOSTILE);
  expect(rows[0]).toMatchObject({
    amount: '123456789012.34567890123456789',
    amount_smallest_unit: '123456789012345678901234567890',
  });
  for (const symbol of HOSTILE) expect(csv).toContain(`"'${symbol.replaceAll('"', '""')}"`);
  // No cell of the file begins as a formula.
  expect(csv).not.toMatch(/(?:^|,|\n)"?[=+@\t＝]/);
  for (const file of [csv, json])
    for (const part of [token, ...token.split('.')]) expect(file).not.toContain(part);
  expect(bearer(token).authorization).toContain(token);
});

test('tokens and transactions are files as well, with fees, and say which price a value is at', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?tab=tokens&only=counted`);
  const { page } = opened;
  await page.getByRole('button', { name: 'Export' }).click();
  const tokens = JSON.parse(await saved(page, 'JSON')) as Rows;
  expect(tokens.length).toBeGreaterThan(3);
  expect(new Set(tokens.map(({ value_usd_is, in_total }) => `${value_usd_is} ${in_total}`))).toEqual(
    new Set(["at today's price true"]),
  );
  await page.keyboard.press('Escape');
  await page.getByLabel('Search', { exact: false }).last().fill('no such token');
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^0 rows: what the list shows of \d+ loaded\.$/).waitFor();
  expect(await dialog.getByRole('button', { name: /CSV|JSON/ }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Transactions' }).click();
  await page.getByRole('tabpanel', { name: 'Transactions' }).getByRole('button', { name: 'Export' }).click();
  const transactions = JSON.parse(await saved(page, 'JSON')) as Rows;
  // All that one compute unit pays for.
  await page.getByText('100 rows: what the list shows of 100 loaded.').waitFor();
  expect(transactions.length).toBe(100);
  for (const { fee, value, time } of transactions) {
    expect(fee).toMatch(/^\d+(\.\d+)?$/);
    expect(value).toMatch(/^\d+(\.\d+)?$/);
    expect(time).toMatch(/^20\d\d-/);
  }
  await page.keyboard.press('Escape');

  // What the wallet paid for its activities is known of the transactions that were read.
  await page.getByRole('tab', { name: 'Activity' }).click();
  await page.getByRole('tabpanel', { name: 'Activity' }).getByRole('button', { name: 'Export' }).click();
  const activities = JSON.parse(await saved(page, 'JSON')) as Rows;
  const paid = transactions.filter(({ from }) => from === WHALE);
  const fees = new Map(activities.flatMap((row) => (row.fee ? [[row.transaction, row]] : [])));
  expect(fees.size).toBeGreaterThan(0);
  for (const [transaction, { fee, fee_currency }] of fees)
    expect(paid).toContainEqual(expect.objectContaining({ transaction, fee, currency: fee_currency }));
  expect(opened.faults).toEqual([]);
});
