import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { balanceChange, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';

/** What a wallet is worth, in a real browser. */

const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
});

afterAll(() => gateway[Symbol.asyncDispose]());

type Portfolio = {
  readonly totalUsd: string;
  readonly unpricedBalances: number;
  readonly excluded: { readonly balances: number };
};

const portfolioOf = async (url: string, address: string, chainIds: readonly number[]): Promise<Portfolio> => {
  const query = `query ($address: Address!, $chainIds: [ChainId!]) {
    wallet(address: $address) { portfolio(chainIds: $chainIds) { totalUsd unpricedBalances excluded { balances } } }
  }`;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { address, chainIds } }),
  });
  const { data } = (await response.json()) as { data: { wallet: { portfolio: Portfolio } } };
  return data.wallet.portfolio;
};

const totalOn = (page: Page) => page.locator('.overview .total').getAttribute('data-total');

const sentBy = (page: Page): string[] => {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST')
      sent.push(/(?:query|mutation) (\w+)/.exec(request.postData() ?? '')?.[1] ?? '');
  });
  return sent;
};

test('the first tab says what a wallet is worth, of which tokens and chains, and what is left out and why', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?chains=1,8453`);
  const { page } = opened;
  await page.locator('.overview .total').waitFor();
  const worth = await portfolioOf(gateway.url, WHALE, [1, 8453]);
  expect(await totalOn(page)).toBe(worth.totalUsd);
  await page.locator('.changes summary').getByText('24 hours').waitFor();
  // Which tokens made the difference is part of the same answer.
  const spent = await page.locator('.cost-meter').textContent();
  await page.locator('.changes summary').getByText('7 days').click();
  const movers = page.getByRole('list', { name: 'By token' }).last();
  await movers
    .getByText(/[+−]\$[\d,.]+$/)
    .first()
    .waitFor();
  const dollarsIn = (text: string) =>
    Number(
      text
        .replace(/^.*([+−])\$/s, '$1')
        .replace('−', '-')
        .replaceAll(',', ''),
    );
  const moved = (await movers.locator('li .push').allInnerTexts()).map(dollarsIn);
  const change = dollarsIn(await page.locator('.changes summary').last().innerText());
  expect(moved.reduce((sum, each) => sum + each, 0)).toBeCloseTo(change, 0);
  expect(await page.locator('.cost-meter').textContent()).toBe(spent);
  await page.locator('figure', { hasText: 'By token' }).getByText('%').first().waitFor();
  await page.locator('figure', { hasText: 'By chain' }).getByText('base').first().waitFor();
  const left = worth.unpricedBalances + worth.excluded.balances;
  expect(left).toBeGreaterThan(0);
  await page.getByText(`${left} ${left === 1 ? 'balance' : 'balances'} left out`).click();
  await page.locator('.left-out li').first().waitFor();
  await page.getByRole('button', { name: 'Refresh' }).getByText('2 CU').waitFor();
  const elsewhere = opened.strange.filter((url) => !url.includes('/token/logo/'));
  expect([elsewhere, opened.faults]).toEqual([[], []]);
});

test('the total of a watched wallet moves with an event, without a request', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '300' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?chains=1`);
  const { page } = opened;
  await page.locator('.overview .total').waitFor();
  await page.getByRole('button', { name: /^Watch/ }).click();
  await page.getByRole('button', { name: /stop/i }).waitFor();
  const before = await totalOn(page);
  await page.waitForLoadState('networkidle');
  const sent = sentBy(page);
  await expect.poll(() => totalOn(page)).not.toBe(before);
  await page.getByText(/\d+ balances? ha(s|ve) changed since/).waitFor();
  expect(sent.filter((name) => name === 'WalletOverview')).toEqual([]);
});

test('an event of a chain’s own currency moves the total and the bars alike, and older figures say so', async (context) => {
  needBrowser(context);
  await gateway.data(`mutation { watchWallet(input: { address: "${WHALE}" }) { __typename } }`);
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?chains=1`);
  const { page } = opened;
  await page.locator('.overview .total').waitFor();
  await page.getByRole('button', { name: /stop/i }).waitFor();
  const before = Number(await totalOn(page));
  const [change = {}] = balanceChange(WHALE, '', '').balance_changes;
  const asset = { token_address: 'native', symbol: 'ETH', decimals: 18 };
  const spent = { asset, amount_before: null, amount_after: null, direction: 'out', value_delta_usd: -4000 };
  const body = { balance_changes: [{ ...change, ...spent }] };
  expect(await deliver(deliveryUrl, { type: 'balances', chainId: 1, body })).toBe(200);
  await page.getByText(/^Read just now; 1 balance has changed since, network fees aside\./).waitFor();
  expect(Number(await totalOn(page))).toBeCloseTo(before - 4000, 2);
  const shown = (await page.locator('.overview .total').innerText()).trim();
  await page.locator('figure', { hasText: 'By chain' }).getByText(shown).waitFor();
  await page
    .locator('.changes')
    .getByText(/^as read .*, without later movements$/)
    .waitFor();
});

test('an asset has one colour in charts, lists and activities', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000', CONSOLE_IMAGES: 'off' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}?chains=1,8453`);
  const { page } = opened;
  const coloursIn = (selector: string) =>
    page
      .locator(`${selector} .of-asset`)
      .evaluateAll((all) => [
        ...new Set(all.map((each) => Reflect.get(globalThis, 'getComputedStyle')(each).fill)),
      ]);
  await page.locator('.overview .total').waitFor();
  const name = 'USDC';
  const shares = '.share li:has-text("USDC")';
  const [colour, ...others] = await coloursIn(shares);
  expect(others).toEqual([]);
  for (const [tab, selector] of [
    ['Tokens', `[data-token]:has(strong:text-is("${name}"))`],
    ['Activity', `.asset:has-text("${name}")`],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click();
    await page.locator(`${selector} .of-asset`).first().waitFor();
    expect([tab, await coloursIn(selector)]).toEqual([tab, [colour]]);
  }
});

test('what can never be paid for says so, and offers the chains that can', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({
    SANDBOX_BLOCK_MS: '3600000',
    CLIENT_COMPUTE_UNITS_PER_MINUTE: '33',
  });
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}`);
  const { page } = opened;
  const panel = page.getByRole('tabpanel', { name: 'Overview' });
  await panel.getByText(/It may cost 70 CU, and at most 33 are allowed. Waiting does not help/).waitFor();
  expect(await panel.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  await panel.getByRole('button', { name: 'Look at 6 chains only' }).click();
  await page.locator('.overview .total').waitFor();
});

test('wallets side by side have their totals side by side', async (context) => {
  needBrowser(context);
  const other = '0x0ac45263881f082a3b14f48ede96f5f9b2ec9b86';
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE},${other}?chains=1`);
  const { page } = opened;
  await expect.poll(() => page.locator('.overview .total').count()).toBe(2);
  const shown = await page
    .locator('.overview .total')
    .evaluateAll((totals) => totals.map((total) => total.getAttribute('data-total')));
  const worth = [await portfolioOf(gateway.url, WHALE, [1]), await portfolioOf(gateway.url, other, [1])];
  expect(shown).toEqual(worth.map(({ totalUsd }) => totalUsd));
  const [one = 0, two = 0] = worth.map(({ totalUsd }) => Number(totalUsd));
  const inDollars = (value: number) => value.toLocaleString('en-US', { style: 'currency', currency: 'USD' });
  const [richer, poorer] = one > two ? ['whale', 'collector'] : ['collector', 'whale'];
  await page
    .getByText(
      `Together ${inDollars(one + two)}. ${richer} has ${inDollars(Math.abs(one - two))} more than ${poorer}.`,
    )
    .waitFor();
});
