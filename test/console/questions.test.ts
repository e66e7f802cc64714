import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';

/**
 * What people ask of a wallet and of webhooks, answered from the page alone by someone who has never seen it: each visit
 * begins at the start, and finds its way by what the page says. The answers are compared with the API's. In a real browser.
 */

/** No block comes while a visitor reads. */
const STILL = { SANDBOX_BLOCK_MS: '3600000', CACHE_HEAD_MS: '600000' };

const SAMPLES = {
  whale: '0xc7928e7865fb684cc7629937d4064aa69989eab4',
  swapper: '0x3754a763029f7ce2b064d90049d057d69ac794f6',
  thin: '0xcb7ace522be1c8d259cebcbc62d33b8026769aeb',
} as const;

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway(STILL, { readsChains: true });
});

afterAll(() => gateway[Symbol.asyncDispose]());

const dollarFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const inDollars = (value: string): string => dollarFormat.format(value as Intl.StringNumericLiteral);

/** Whole tokens with up to six decimal places. */
const inTokens = (value: string, decimals: number): string => {
  const digits = value.padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const fraction = digits.slice(point, point + 6).replace(/0+$/, '');
  return `${BigInt(digits.slice(0, point)).toLocaleString('en-US')}${fraction === '' ? '' : `.${fraction}`}`;
};

const chooseSample = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('region', { name: 'Sample wallets of the sandbox' })
    .getByRole('link', { name, exact: true })
    .click();

const textOf = async (shown: Locator): Promise<string> => (await shown.innerText()).replace(/\s+/g, ' ');

type Portfolio = {
  readonly totalUsd: string;
  readonly unpricedBalances: number;
  readonly excluded: { readonly balances: number };
};

const portfolioOf = async (address: string): Promise<Portfolio> => {
  const { wallet } = await gateway.data<{ wallet: { portfolio: Portfolio } }>(
    'query ($address: Address!) { wallet(address: $address) { portfolio { totalUsd unpricedBalances excluded { balances } } } }',
    { address },
  );
  return wallet.portfolio;
};

test('what is this wallet worth?', async (context) => {
  needBrowser(context);
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  await page.getByRole('button', { name: /^Search/ }).press('Enter');
  await page.getByRole('dialog').getByRole('combobox').pressSequentially('whale');
  await page.getByRole('option', { name: /^whale/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'whale' }).waitFor();
  const { totalUsd } = await portfolioOf(SAMPLES.whale);
  await page.getByRole('tabpanel', { name: 'Overview' }).getByText(inDollars(totalUsd)).first().waitFor();
  expect(opened.faults).toEqual([]);
});

type Side = { readonly value: string; readonly token: Named } | null;
type Named = {
  readonly symbol: string;
  readonly decimals: number;
};

type Activity = {
  readonly type: string | null;
  readonly transactionHash: string;
  readonly chainId: number;
  readonly value: string;
  readonly valueUsd: string | null;
  readonly lowLiquidity: boolean | null;
  readonly token: Named | null;
  readonly swap: { readonly from: Side; readonly to: Side } | null;
};

const newestActivities = async (address: string): Promise<readonly Activity[]> => {
  const { wallet } = await gateway.data<{ wallet: { activity: { nodes: Activity[] } } }>(
    `query ($address: Address!) { wallet(address: $address) { activity(first: 100) { nodes {
      type transactionHash chainId value valueUsd lowLiquidity token { ...named }
      swap { from { value token { ...named } } to { value token { ...named } } }
    } } } }
    fragment named on Token { symbol decimals }`,
    { address },
  );
  return wallet.activity.nodes;
};

test('what is its biggest transfer, of those that are loaded?', async (context) => {
  needBrowser(context);
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  await chooseSample(page, 'whale');
  await page.getByRole('tab', { name: 'Activity' }).click();
  const [biggest] = (await newestActivities(SAMPLES.whale))
    .filter(({ type, lowLiquidity, valueUsd }) => {
      return (type === 'SEND' || type === 'RECEIVE') && valueUsd !== null && lowLiquidity !== true;
    })
    .toSorted((one, other) => Number(other.valueUsd) - Number(one.valueUsd));
  const answer = page.getByText('Biggest transfer of these', { exact: true }).locator('..');
  const said = await textOf(answer);
  expect(said).toContain(inDollars(biggest?.valueUsd ?? ''));
  expect(said).toContain(biggest?.type === 'SEND' ? 'Sent' : 'Received');
  await page
    .getByRole('tabpanel', { name: 'Activity' })
    .getByText(/^Showing \d+ of \d+ transactions loaded/)
    .waitFor();
  await answer.getByRole('button', { name: 'Open' }).click();
  const row = page.getByRole('listitem').filter({ has: page.getByTitle(biggest?.transactionHash ?? '') });
  await row.getByRole('figure', { name: 'Who gave what to whom' }).first().waitFor();
  expect(opened.faults).toEqual([]);
});

test('what did this transaction do?', async (context) => {
  needBrowser(context);
  const swaps = (await newestActivities(SAMPLES.swapper)).filter(({ type }) => type === 'SWAP');
  const { transactionHash = '', chainId, swap } = swaps[0] ?? {};
  const amount = (side: Side | undefined) =>
    side ? `${inTokens(side.value, side.token.decimals)} ${side.token.symbol}` : 'something';
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  const field = page.getByRole('combobox', { name: /address/i });
  // A hash names no chain and no wallet: the page offers the chains that it can be looked for on.
  await field.fill(transactionHash);
  await page
    .getByRole('option', { name: /transaction/i })
    .first()
    .waitFor();
  await field.fill(SAMPLES.swapper);
  await field.press('Enter');
  await page.getByRole('tab', { name: 'Activity' }).click();
  await page.getByRole('tabpanel', { name: 'Activity' }).getByLabel('Search').fill(transactionHash);
  const row = page.getByRole('listitem').filter({ has: page.getByTitle(transactionHash) });
  await row
    .getByText(`Swapped ${amount(swap?.from)} for ${amount(swap?.to)}`)
    .first()
    .waitFor();
  await row
    .getByRole('button', { name: /What happened/ })
    .first()
    .click();
  const flow = row.getByRole('figure', { name: 'Who gave what to whom' }).first();
  const moved = await textOf(flow);
  expect(moved).toContain(`this wallet gave ${amount(swap?.from)}`);
  expect(moved).toContain(`this wallet got ${amount(swap?.to)}`);
  await row
    .getByRole('button', { name: /^Read its call, events and data/ })
    .first()
    .click();
  const { wallet } = await gateway.data<{
    wallet: { transactions: { nodes: { hash: string; logs: unknown[] }[] } };
  }>(
    `query ($address: Address!, $chainIds: [ChainId!]) { wallet(address: $address) {
      transactions(first: 100, chainIds: $chainIds) { nodes { hash logs { address } } }
    } }`,
    { address: SAMPLES.swapper, chainIds: [chainId] },
  );
  const transaction = wallet.transactions.nodes.find(({ hash }) => hash === transactionHash);
  await row
    .getByRole('heading', { name: `Events: ${transaction?.logs.length}`, exact: true })
    .first()
    .waitFor();
  expect(opened.faults).toEqual([]);
});

test('which of its tokens are left out of the total, and why?', async (context) => {
  needBrowser(context);
  const { wallet } = await gateway.data<{
    wallet: {
      balances: {
        nodes: {
          valueUsd: string | null;
          poolSizeUsd: string | null;
          token: { symbol: string; isNative: boolean };
        }[];
      };
    };
  }>(
    `query ($address: Address!) { wallet(address: $address) { balances(first: 1000) { nodes {
      valueUsd poolSizeUsd token { symbol isNative }
    } } } }`,
    { address: SAMPLES.thin },
  );
  const leftOut = wallet.balances.nodes.flatMap(({ valueUsd, poolSizeUsd, token }) => {
    const { symbol, isNative } = token;
    if (valueUsd === null) return [{ symbol, reason: 'No market price is known.' }];
    if (isNative || poolSizeUsd === null || Number(poolSizeUsd) >= 10_000) return [];
    return [
      { symbol, reason: `Its price comes from a pool of ${inDollars(poolSizeUsd)}, below $10,000.00.` },
    ];
  });
  const { unpricedBalances, excluded } = await portfolioOf(SAMPLES.thin);
  expect(leftOut.length).toBeGreaterThan(0);
  expect(leftOut.length).toBe(unpricedBalances + excluded.balances);

  await using opened = await openPage(gateway.url);
  const { page } = opened;
  await chooseSample(page, 'thin');
  await page.getByText(new RegExp(`^${leftOut.length} balances? left out: why`)).click();
  await page.getByText(new RegExp(`^${excluded.balances} balances? with too little liquidity`)).waitFor();
  await page.getByRole('button', { name: 'Show them among the tokens' }).click();
  const table = page.getByRole('region', { name: `Left out of the total: ${leftOut.length}` });
  for (const { symbol, reason } of leftOut)
    await table.getByRole('row').filter({ hasText: symbol }).filter({ hasText: reason }).first().waitFor();
  expect(await table.getByRole('row').count()).toBe(1 + leftOut.length);
  expect(opened.faults).toEqual([]);
});

/** The visit's compute units, as the header says them. */
const spentOn = async (page: Page): Promise<number> => {
  const said = await page.getByTitle('What this visit has cost').innerText();
  return Number(/^([\d,]+) CU/.exec(said)?.[1]?.replaceAll(',', ''));
};

/** Clicks, and compares what the control said that this costs with what it then did. */
const pay = async (page: Page, control: Locator, answered: Locator): Promise<void> => {
  const said = async () => {
    const text = `${(await control.getAttribute('title')) ?? ''} ${await control.innerText()}`;
    return Number(/([\d,]+) CU/.exec(text)?.[1]?.replaceAll(',', ''));
  };
  // Prices by chain are known with the list of chains.
  await expect.poll(said).toBeGreaterThan(0);
  const [price, before] = [await said(), await spentOn(page)];
  await control.click();
  await answered.first().waitFor();
  await expect.poll(() => spentOn(page)).toBe(before + price);
};

test('what does the next click cost?', async (context) => {
  needBrowser(context);
  // Nobody has asked this gateway for anything yet: what it has already is cheaper than is said.
  await using fresh = await startGateway(STILL, { readsChains: true });
  await using opened = await openPage(fresh.url);
  const { page } = opened;
  expect(await spentOn(page)).toBe(0);
  await page.getByRole('combobox').fill('USD Coin');
  await pay(
    page,
    page.getByRole('option', { name: /search tokens/i }),
    page.getByRole('option', { name: /USDC/ }),
  );
  await page.getByRole('combobox').fill('');
  const opening = await textOf(page.getByText(/Opening a wallet costs \d+ CU/));
  const price = Number(/Opening a wallet costs (\d+) CU/.exec(opening)?.[1]);
  const searched = await spentOn(page);
  await chooseSample(page, 'swapper');
  await page.getByText('By token').waitFor();
  await expect.poll(() => spentOn(page)).toBe(searched + price);

  const tab = (name: string) => page.getByRole('tab', { name });
  const panel = (name: string) => page.getByRole('tabpanel', { name });
  const happenings = panel('Activity').getByRole('button', { name: /What happened/ });
  await pay(page, tab('Activity'), happenings);
  // One that is open has been paid.
  expect(await tab('Activity').getAttribute('title')).toBe('');
  await happenings.first().click();
  const details = panel('Activity').getByRole('button', { name: /^Read its call, events and data/ });
  await pay(page, details, panel('Activity').getByRole('heading', { name: /^Events/ }));
  await pay(page, tab('Collectibles'), panel('Collectibles').getByText(/as of/));
  await tab('DeFi').click();
  await pay(
    page,
    panel('DeFi').getByRole('button', { name: /^Read DeFi positions/ }),
    panel('DeFi').getByText(/position/i),
  );

  const spent = await spentOn(page);
  await page.getByRole('link', { name: 'Cost', exact: true }).click();
  const sum = page.getByText('compute units (CU)', { exact: true }).locator('..');
  expect(await textOf(sum)).toContain(String(spent));
  expect(opened.faults).toEqual([]);
});

type Webhooks = {
  readonly deliveryUrl: string;
  readonly webhooks: {
    readonly nodes: readonly {
      readonly webhookId: string;
      readonly name: string;
      readonly url: string;
      readonly refusedDeliveries: readonly { readonly status: number; readonly reason: string }[];
    }[];
  };
};

test('why is a webhook failing?', async (context) => {
  needBrowser(context);
  // The sandbox signs nothing.
  await using unsigned = await startGateway({ ...STILL, DELIVERY_SIGNATURE_SECRET: 'another secret' });
  const read = () =>
    unsigned.data<Webhooks>(
      '{ deliveryUrl webhooks(first: 100) { nodes { webhookId name url refusedDeliveries { status reason } } } }',
    );
  const [refused, moved] = (await read()).webhooks.nodes;
  const old = `https://old.example${new URL(moved?.url ?? '').pathname}`;
  await unsigned.data(
    `mutation { updateWebhook(input: { webhookId: "${moved?.webhookId}", url: "${old}" }) { __typename } }`,
  );

  await using opened = await openPage(unsigned.url);
  const { page } = opened;
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('button', { name: '1 failing' }).waitFor();
  const row = (name = '') => page.getByRole('listitem').filter({ hasText: name });
  const { host } = new URL((await read()).deliveryUrl);
  const lost = row(moved?.name);
  await lost.getByText('failing', { exact: true }).waitFor();
  await lost.getByText('Its URL leads to old.example').waitFor();
  await lost.getByText(`now says ${host}. Point it here.`).waitFor();

  await row(refused?.name)
    .getByRole('button', { name: /^Send test event/ })
    .press('Enter');
  const why = row(refused?.name).getByText('The last delivery was refused');
  await why.waitFor();
  const { webhooks } = await read();
  const [last] = webhooks.nodes.find(({ name }) => name === refused?.name)?.refusedDeliveries ?? [];
  expect(last?.status).toBe(401);
  // What was wrong, and what to do about it.
  expect(await textOf(why)).toContain(
    `${last?.status}, ${last?.reason}. DELIVERY_SIGNATURE_SECRET of the gateway must be`,
  );
  await page.getByRole('button', { name: '2 failing' }).waitFor();
  expect(opened.faults).toEqual([]);
});
