import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { addressOf } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';

/** What a visit begins with: the search, tokens, and a person's own labels. In a real browser, over the sandbox. */

const SWAPPER = '0x3754a763029f7ce2b064d90049d057d69ac794f6';
const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** The compute units of the visit, as the header says. */
const spentOn = async (page: Page): Promise<number> =>
  Number(/^([\d,]+) CU/.exec((await page.locator('.cost-meter').textContent()) ?? '')?.[1]?.replace(',', ''));

test('one field leads from a token’s name to its price, history and holders, each at the price that was said', async (context) => {
  needBrowser(context);
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  const field = page.getByRole('combobox', { name: /token/i });
  await field.pressSequentially('USD Coin');
  await page.getByRole('option', { name: /search tokens named “USD Coin”.*2 CU/i }).waitFor();
  expect(await spentOn(page)).toBe(0);
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: /USDC.*optimism/i }).click();
  await page.getByRole('heading', { name: 'USDC' }).waitFor();
  expect(page.url()).toContain('#/token/10:0x');
  await page.getByText(/^\$0\.99\d*$|^\$1\.0\d*$/).waitFor();
  expect(await spentOn(page)).toBe(4);

  await page.getByRole('button', { name: /7 days.*8 CU/ }).click();
  const chart = page.getByRole('slider', { name: /price over 7 days/i });
  const newest = await chart.getAttribute('aria-valuetext');
  await chart.press('Home');
  expect(await chart.getAttribute('aria-valuetext')).not.toBe(newest);
  expect(await spentOn(page)).toBe(12);

  await page.getByRole('button', { name: /500 largest.*2 CU/ }).click();
  await expect.poll(() => page.getByRole('table').getByRole('row').count()).toBeGreaterThan(10);
  await page.getByRole('meter', { name: 'Ranks 2 to 10' }).waitFor();
  const texts = await page
    .getByRole('meter')
    .evaluateAll((meters) => meters.map((meter) => meter.getAttribute('aria-valuetext') ?? ''));
  const shares = texts.map(Number.parseFloat);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 0);
  expect(await spentOn(page)).toBe(14);
  expect(opened.faults).toEqual([]);
});

test('an address with a wrong checksum is refused wherever it is entered, and the right one is offered', async (context) => {
  needBrowser(context);
  const [wrong, right] = [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  ];
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  await page.getByRole('combobox', { name: /token/i }).fill(wrong);
  await page.keyboard.press('Enter');
  await page.getByText(`The checksum of this address is wrong: ${wrong}`).waitFor();
  await page.getByText(right, { exact: true }).waitFor();
  expect(await page.getByRole('tab').count()).toBe(0);
  await page.getByRole('button', { name: 'Open 0x5aAe…eAed' }).click();
  await page.getByRole('tab', { name: 'Overview' }).waitFor();
  expect(page.url()).toContain(`#/wallet/${right.toLowerCase()}`);
  for (const link of [`live?address=${wrong}`, `token/1:${wrong}`]) {
    await page.goto(`${gateway.url}/#/${link}`);
    await page.getByText(`with these digits it is ${right}`).waitFor();
  }
  expect(opened.faults).toEqual([]);
});

test('a name that a person gives to a wallet is found, kept, exported and imported', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}`, { acceptDownloads: true });
  const { page } = opened;
  await page.getByRole('button', { name: /edit label|add a label/i }).click();
  await page.getByRole('textbox', { name: 'Label' }).fill('  My \u202e cold   wallet ');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'My cold wallet' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'My cold wallet' }).waitFor();

  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').pressSequentially('cold');
  await page.getByRole('option', { name: /My cold wallet/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'EVM gateway' }).click();
  const labels = page.getByRole('region', { name: 'Own labels' });
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    labels.getByRole('button', { name: 'Export' }).click(),
  ]);
  const kept = JSON.parse(await readFile(await file.path(), 'utf8'));
  expect(kept).toEqual({ [WHALE]: 'My cold wallet' });

  await labels.getByRole('button', { name: /remove the label/i }).click();
  await labels.getByText('You have named no address yet').waitFor();
  const chosen = (text: string) =>
    labels
      .locator('input[type=file]')
      .setInputFiles({ name: 'labels.json', mimeType: 'application/json', buffer: Buffer.from(text) });
  await chosen('[1, 2]');
  await labels.getByText(/expected a JSON object of names by address/i).waitFor();
  await chosen(JSON.stringify({ ...kept, nobody: 'x' }));
  await labels.getByText('1 label imported, 1 entry is not an address with a name.').waitFor();
  await labels.getByRole('link', { name: 'My cold wallet' }).waitFor();
  expect(opened.faults).toEqual([]);
});

test('the palette opens with Ctrl+K from anywhere, leads to a view by its name, and gives the focus back', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/cost`);
  const { page } = opened;
  await page.getByRole('heading', { level: 2 }).waitFor();
  const field = page.getByRole('dialog').getByRole('combobox');
  await page.keyboard.down('Control');
  // The field comes with the key, as it does for a person.
  await page.waitForLoadState('networkidle');
  await page.keyboard.press('k');
  await page.keyboard.up('Control');
  await page.keyboard.type('webh');
  expect(await field.inputValue()).toBe('webh');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toMatch(/#\/webhooks$/);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.getByRole('button', { name: /^search/i }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('cost');
  expect(await field.inputValue()).toBe('cost');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.evaluate('document.activeElement.className')).toContain('open-palette');
});

test('a wallet that was opened is listed with what it is worth, at the price that the button said', async (context) => {
  needBrowser(context);
  await using opened = await openPage(`${gateway.url}/#/wallet/${SWAPPER}`);
  const { page } = opened;
  await page.getByRole('tab').first().waitFor();
  await page.getByRole('link', { name: 'EVM gateway' }).click();
  const known = page.getByRole('region', { name: 'Recent wallets' });
  await known.getByRole('link', { name: 'swapper' }).waitFor();
  const ask = known.getByRole('button', { name: /what they are worth/i });
  await expect.poll(() => ask.textContent()).toMatch(/\d CU$/);
  const price = Number(/(\d+) CU$/.exec((await ask.textContent()) ?? '')?.[1]);
  const before = await spentOn(page);
  await ask.click();
  await known.getByText(/^\$[\d,]+\.\d\d$/).waitFor();
  await known.getByRole('img', { name: /in the last 7 days/i }).waitFor();
  // Its Overview has just read the same pages: while they are fresh, they cost nothing.
  const spent = (await spentOn(page)) - before;
  expect([0, price]).toContain(spent);
  await page.getByRole('link', { name: 'Cost' }).click();
  await page.goBack();
  await known.getByText(/^\$[\d,]+\.\d\d$/).waitFor();
  expect((await spentOn(page)) - before).toBe(spent);
  await known.getByRole('button', { name: /forget/i }).click();
  await expect.poll(() => known.count()).toBe(0);
  await page.reload();
  const samples = page.getByRole('region', { name: /sample wallets/i });
  expect(await samples.innerText()).toMatch(
    /real wallets.*BLOCKSCOUT=1,8453.*BLOCKSCOUT_API_KEY.*CHAINS.*UPSTREAM_URL/,
  );
  expect(await known.count()).toBe(0);
  expect(opened.faults).toEqual([]);
});

test('a token that the service calls anything stays text and fits a phone, and a service that fails can be asked again', async (context) => {
  needBrowser(context);
  const name = `<img src=x onerror="document.title='taken'">\u202e${'x'.repeat(10_000)}`;
  const [address, holder] = [addressOf(0xbad), addressOf(0xbee)];
  const token = { chain_id: 1, address, symbol: name, name, logo: 'javascript:alert(1)', decimals: 18 };
  const market = { ...token, price_usd: 1e-9, pool_size: 3, total_supply: `1${'0'.repeat(70)}` };
  const holders = [{ wallet_address: holder, balance: `1${'0'.repeat(69)}` }];
  let isDown = true;
  await using fake = await startFakeService({
    holders: () => ({ json: { holders } }),
    other: ({ path }) => {
      if (path.includes('/search/')) return { json: [token] };
      if (isDown) return { status: 503, text: 'down' };
      return {
        json: path.includes('holders') ? { holders } : { contract_address: address, tokens: [market] },
      };
    },
  });
  await using other = await startGateway({ UPSTREAM_URL: fake.url });
  await using opened = await openPage(other.url, { viewport: { width: 360, height: 800 } });
  const { page } = opened;
  await page.getByRole('combobox').pressSequentially('taken');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: /img src=x/ }).click();
  await page.getByText('The service can’t be reached').waitFor();
  isDown = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('$0.000000001').waitFor();
  await page.getByText('thin, not in totals').waitFor();
  await page.getByRole('button', { name: /largest/ }).click();
  const meter = page.getByRole('meter', { name: 'The largest' });
  expect(await meter.getAttribute('aria-valuetext')).toBe('10%');
  expect(await page.title()).not.toBe('taken');
  expect(await page.locator('main').textContent()).not.toContain('\u202e');
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect([opened.strange, opened.faults]).toEqual([[], []]);
});

test('over chains of one’s own, Start shows each one’s head as it moves and how far the index is, at no cost', async (context) => {
  needBrowser(context);
  let head = 1_000;
  const chain = (chain_id: number, name: string, index: object) => ({
    name,
    chain_id,
    tags: ['default'],
    balances: { supported: true },
    index,
  });
  await using fake = await startFakeService({
    chains: () => {
      const headTime = new Date().toISOString();
      const followed = { head, headTime, indexedFrom: 900, indexedTo: head, behind: 900 };
      const chains = [
        chain(31337, 'local_devnet', followed),
        chain(4242, 'chain_4242', { problem: 'the node is chain 1' }),
      ];
      return { json: { chains } };
    },
  });
  await using own = await startGateway({ UPSTREAM_URL: fake.url }, { readsChains: true });
  await using opened = await openPage(own.url, { viewport: { width: 360, height: 800 } });
  const { page } = opened;
  const chains = page.getByRole('region', { name: 'Your chains' });
  await chains.getByText('Block 1,000').waitFor();
  await chains.getByText('900 blocks to go').waitFor();
  const meter = chains.getByRole('meter', { name: 'Indexed' });
  expect(await meter.getAttribute('aria-valuetext')).toBe('blocks 900 to 1,000');
  expect(await meter.getAttribute('aria-valuenow')).toBe('101');
  expect(await meter.getAttribute('aria-valuemax')).toBe('1001');
  await chains.getByText('the node is chain 1').waitFor();
  for (const next of [1_001, 1_002]) {
    head = next;
    await chains.getByText(`Block 1,00${next - 1_000}`).waitFor();
  }
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await page.textContent('body')).not.toMatch(/sandbox/i);

  const address = addressOf(0xabc);
  const field = page.getByRole('combobox');
  await field.fill(address);
  await page.getByRole('option', { name: /^Token/ }).click();
  await expect.poll(() => page.url()).toContain(`#/token/4242:${address}`);
  expect(await page.textContent('body')).not.toMatch(/sandbox/i);
  // What is asked every few seconds would bury what the visit has cost.
  await page.getByRole('link', { name: 'Cost' }).click();
  await page.getByRole('heading', { level: 2 }).first().waitFor();
  expect(await page.getByText('ChainIndexes', { exact: true }).count()).toBeLessThanOrEqual(1);
  expect(opened.faults).toEqual([]);
});
