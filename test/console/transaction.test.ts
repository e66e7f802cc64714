import { readFile } from 'node:fs/promises';
import { isUnlimited } from 'evm-graphql-gateway/client';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';
import { hashOf, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The page of one transaction, as a link leads to it, in a real browser. */

const SWAPPER = '0x3754a763029f7ce2b064d90049d057d69ac794f6';

const APPROVER = '0xb3cf83bcc8153cb9bd8aba4d18e514903bbe4f8d';
const BYSTANDER = `0x${'12'.repeat(20)}`;
const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

/** Keeps the texts that are drawn into images. */
const WATCH_DRAWING = `{
  const { fillText } = CanvasRenderingContext2D.prototype;
  window.drawn = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.drawn.push(text);
    fillText.call(this, text, ...place);
  };
}`;

const SENT = `query ($address: Address!) { wallet(address: $address) { activity(first: 100) { nodes {
  type assetType chainId transactionHash value } } } }`;

type Sent = {
  wallet: {
    activity: {
      nodes: {
        type: string;
        assetType: string | null;
        chainId: number;
        transactionHash: string;
        value: string | null;
      }[];
    };
  };
};

test('a transaction has a page: what moved, from either side, as an image too', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' }, { readsChains: true });
  const { wallet } = await gateway.data<Sent>(SENT, { address: SWAPPER });
  const swap = wallet.activity.nodes.find(({ type }) => type === 'SWAP');
  if (swap === undefined) throw new Error('expected a swap');
  await using opened = await openPage(`${gateway.url}/#/wallet/${SWAPPER}?tab=activity`);
  const { page } = opened;
  const row = page.locator(`[data-activity="${swap.transactionHash}"]`);
  // A row outside of the window has no inner text.
  const told = await row.locator('.act-moved').first().textContent();
  await row.getByRole('link', { name: /^0x/ }).last().click();
  expect(new URL(page.url()).hash).toBe(`#/tx/${swap.chainId}/${swap.transactionHash}?wallet=${SWAPPER}`);
  await page.getByRole('heading', { name: /^Transaction 0x/ }).waitFor();
  await page.getByText('succeeded').waitFor();
  const flow = page.getByRole('figure', { name: 'Who gave what to whom' });
  expect(await flow.getByText('this wallet gave').count()).toBeGreaterThan(0);
  expect(await flow.getByText('this wallet got').count()).toBeGreaterThan(0);

  // What the list has told is known here.
  await page
    .getByText(/^Swapped .+ for .+/)
    .first()
    .waitFor();
  expect(await page.locator('.act-moved').first().textContent()).toBe(told);
  expect(await page.getByRole('button', { name: /^Name \d/ }).count()).toBe(0);

  // The image says it in dollars.
  await page.evaluate(WATCH_DRAWING);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as an image' }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe(`${swap.transactionHash}.png`);
  const image = await readFile(await saved.path());
  expect(image.subarray(1, 4).toString()).toBe('PNG');
  expect(await page.evaluate('window.drawn.join()')).toMatch(/,\$[\d.,]+,/);

  // A link without a wallet tells it from the side of the sender. Its tokens are only named when that is asked for: it costs.
  await page.goto(`${gateway.url}/#/tx/${swap.chainId}/${swap.transactionHash}`);
  await page.reload();
  await flow.getByText(/units/).first().waitFor();
  const swapped = page.getByText(/^Swapped .+ for .+ on 0x/).first();
  expect(await swapped.textContent()).toContain('units 0x');
  // The picture of a token without a symbol is no digit of its address.
  expect(await swapped.locator('.token-logo').first().textContent()).toBe('?');
  await page.getByRole('button', { name: /^Name \d tokens?: \d+ CU at most/ }).click();
  await flow.getByText(/units/).first().waitFor({ state: 'detached' });
  expect(await swapped.textContent()).not.toContain('units');
  await page
    .getByRole('button', { name: /^From the side of / })
    .first()
    .click();
  await page.getByRole('button', { name: 'From the side of swapper' }).waitFor();
  expect(new URL(page.url()).hash).not.toContain(SWAPPER);
  // The arrow of a call points to the one that is called, as the sentence says.
  await page.getByText(/called .+ of this wallet$/).waitFor();
  const arrow = flow.locator('li', { hasText: /^called this wallet/ }).locator('.flow-arrow');
  expect(await arrow.evaluate((drawn) => getComputedStyle(drawn).rotate)).toBe('180deg');
  await page.getByText('What it moved went between other addresses').waitFor();

  await page.goto(`${gateway.url}/#/tx/${swap.chainId}/${swap.transactionHash}?wallet=${BYSTANDER}`);
  await page.getByText('This wallet takes no part in this transaction').waitFor();
  expect(await page.textContent('main')).not.toMatch(/called .+ of this wallet/);
  expect(await flow.count()).toBe(0);

  // A hash in the search leads to it as well.
  await page.getByRole('button', { name: /^Search/ }).click();
  await page.getByRole('combobox').fill(swap.transactionHash);
  await page.getByRole('option', { name: /^Transaction 0x.*ethereum/ }).waitFor();
  await page.goto(`${gateway.url}/#/tx/1/0x12`);
  await page.getByText('This link names no transaction').waitFor();
  expect(opened.faults).toEqual([]);
});

test('an approval is told as what it allows, and a link to what a list has not loaded leads to the transaction', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' }, { readsChains: true });
  const { wallet } = await gateway.data<Sent>(SENT, { address: APPROVER });
  const approval = wallet.activity.nodes.find(
    ({ type, assetType, value }) => type === 'APPROVE' && assetType === 'ERC20' && isUnlimited(value ?? '0'),
  );
  if (approval === undefined) throw new Error('expected an unlimited approval');
  const { chainId, transactionHash: hash } = approval;
  await using opened = await openPage(`${gateway.url}/#/wallet/${SWAPPER}?tab=activity&open=${hash}`);
  const { page } = opened;
  await page.getByText('is not among the loaded ones').getByRole('link').click();
  expect(new URL(page.url()).hash).toBe(`#/tx/${hash}?wallet=${SWAPPER}`);
  await page.goto(`${gateway.url}/#/tx/${chainId}/${hash}`);
  await page.getByText(/^Allowed .+ to spend any amount of /).waitFor();
  await page
    .getByRole('figure', { name: 'Who gave what to whom' })
    .getByText(/^may spend any amount of /)
    .waitFor();
  expect(await page.textContent('main')).not.toContain('Called approve');
  // The image says it, too.
  await page.evaluate(WATCH_DRAWING);
  await page.getByRole('button', { name: 'Save as an image' }).click();
  expect(await page.evaluate('window.drawn.join()')).toMatch(/may spend any amount of /);
  expect(opened.faults).toEqual([]);
});

test('details are of the row that was opened, also when the list has moved on since', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0' });
  fake.transactions.set(SWAPPER, servingTransactions(history(3)));
  await using opened = await openPage(`${gateway.url}/#/wallet/${SWAPPER}?tab=transactions`);
  const { page } = opened;
  const newest = page.locator('[data-hash]').first();
  await newest.waitFor();
  const hash = await newest.getAttribute('data-hash');
  fake.transactions.set(SWAPPER, servingTransactions(history(5)));
  await newest.getByRole('button', { name: /^Details/ }).click();
  await newest.getByRole('heading', { name: 'Call', exact: true }).waitFor();
  await newest.getByText('Raw JSON').click();
  await newest
    .getByLabel('JSON', { exact: true })
    .filter({ hasText: `"hash": "${hash}"` })
    .waitFor();
  expect(opened.faults).toEqual([]);
});

test('a pasted hash opens on no chain before its chain is known, and what one chain lacks is found on the others', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' }, { readsChains: true });
  const { wallet } = await gateway.data<Sent>(SENT, { address: WHALE });
  const sent = wallet.activity.nodes.find(({ chainId }) => chainId === 8453);
  if (sent === undefined) throw new Error('expected a transaction of Base');
  const { transactionHash: hash } = sent;
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  const spent = () => page.locator('.cost-meter strong').textContent();
  const field = page.getByRole('combobox', { name: /hash/ });
  expect(await field.getAttribute('placeholder')).toContain('hash');
  await field.fill(hash);
  expect(await page.getByRole('option').count()).toBeGreaterThan(7);
  await page.keyboard.press('Enter');
  await page.getByText('A hash does not say which chain it is of.').waitFor();
  expect([new URL(page.url()).hash, await spent()]).toEqual([`#/tx/${hash}`, '0 CU']);
  await page.getByRole('link', { name: 'ethereum', exact: true }).click();
  await page.getByText('No transaction on ethereum has this hash').waitFor();
  expect(await page.textContent('main')).not.toMatch(/another address|for the wallet/i);
  await page.getByRole('button', { name: /^Look on the other \d+ chains in turn: \d+ CU at most$/ }).click();
  await page.getByText('succeeded').waitFor();
  expect(new URL(page.url()).hash).toBe(`#/tx/8453/${hash}`);

  await page.goto(`${gateway.url}/#/tx/424242/${hash}`);
  await page.getByText('This gateway does not serve chain 424242').waitFor();
  await page.getByRole('link', { name: 'base', exact: true }).click();
  await page.getByText('succeeded').waitFor();
  expect(opened.faults).toEqual([]);
});

test('where the service finds none by its hash, it is looked for in a wallet’s list, at a price that is said', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  fake.transactions.set(SWAPPER, servingTransactions(history(250)));
  await using opened = await openPage(`${gateway.url}/#/tx/1/${hashOf(3)}`);
  const { page } = opened;
  await page.getByText('only in the list of a wallet').waitFor();
  await page.getByLabel('Wallet').fill(SWAPPER);
  await page.getByRole('button', { name: 'Look in its list' }).click();
  const read = page.getByRole('button', { name: 'Read its call, events and data: up to 10 CU' });
  await read.waitFor();
  const spent = () => page.locator('.cost-meter strong').textContent();
  expect(await spent()).toBe('0 CU');
  await read.click();
  await page.getByRole('heading', { name: 'Call', exact: true }).waitFor();
  // The newest 100, the next, and the last: it is among the oldest.
  expect(await spent()).toBe('3 CU');

  // Another wallet's list may have what this one's lacks.
  await page.goto(`${gateway.url}/#/tx/1/${hashOf(999)}?wallet=${SWAPPER}`);
  await read.click();
  await page.getByText('The service does not list this transaction for the wallet on ethereum').waitFor();
  await page.getByText('It may be in the list of the address that sent it, or on another chain.').waitFor();
  await page.getByRole('link', { name: 'base', exact: true }).waitFor();
  await page.getByLabel('Wallet').fill(WHALE);
  await page.getByRole('button', { name: 'Look in its list' }).click();
  await read.waitFor();
  expect(opened.faults).toEqual([]);
});
