import { expect, test } from 'vitest';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from '../backend/indexer/support/contracts.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';

/** The console over a chain of one's own: no prices, a currency of its own, and what only such a service says. */

test("over one's own chain the console says what is there, in the chain's currency, and claims no dollars", async (context) => {
  needBrowser(context);
  await using anvil = await startAnvil();
  const [wallet = '0x', friend = '0x'] = await accountsOf(anvil.url);
  await using gateway = await startGateway(
    { CHAINS: `31337=${anvil.url}`, EXTRA_CHAINS: '31337:mychain:USDC/6:default' },
    { readsChains: true },
  );
  await gateway.data(`mutation { watchWallet(input: { address: "${friend}" }) { __typename } }`);
  const items = await deploy(anvil.url, 'Items', ['https://items.example/{id}']);
  const art = await deploy(anvil.url, 'Art', ['Pictures', 'ART']);
  await items.mine('mint', [friend, 7n, 3n]);
  await art.mine('mint', [friend, 1n, 'ipfs://one']);
  const failing = await sendTransaction(anvil.url, items.address, '0x', { value: 2_500_000n, gas: 100_000n });
  await receiptOf(anvil.url, failing);

  await using opened = await openPage(`${gateway.url}/#/live?address=${friend}`);
  const { page } = opened;
  const cards = page.locator('[data-transaction]');
  await expect.poll(() => cards.allInnerTexts()).toHaveLength(2);
  // The delivery of balances is behind that of activities.
  await expect.poll(async () => (await cards.allInnerTexts()).join()).toMatch(/now has[\s\S]*3 ×/);
  const [ofArt = '', ofItems = ''] = await cards.allInnerTexts();
  expect(ofItems).toMatch(/minted[\s\S]*3 × 0x\S+ #7[\s\S]*now has[\s\S]*3 × 0x\S+ #7/);
  expect(ofArt).toMatch(/minted[\s\S]*ART #1/);
  expect(ofArt).not.toMatch(/gained|has/);
  const ofWatch = `watch of ${friend.slice(0, 6)}…${friend.slice(-4)}: transactions`;
  await expect.poll(() => page.getByLabel('Webhook').textContent()).toContain(ofWatch);

  await page.goto(`${gateway.url}/#/`);
  await page.getByText('Accounts that Anvil and Hardhat fund').getByRole('link').first().click();
  expect(page.url()).toContain(wallet);
  // Amounts come first, and how they get a price.
  await page
    .getByRole('tabpanel', { name: 'Overview' })
    .getByText(/ USDC$/)
    .first()
    .waitFor();
  await page.getByText('No prices: set PRICES').waitFor();
  // They move with the events of a watched wallet, too, and not with those of another one that is watched.
  const held = page.locator('.overview .total');
  const before = await held.getAttribute('title');
  await page.getByRole('button', { name: /^Watch/ }).click();
  await page.getByRole('button', { name: /stop/ }).waitFor();
  await receiptOf(anvil.url, await sendTransaction(anvil.url, friend, '0x', { value: 2_500_000n }));
  await expect.poll(() => held.getAttribute('title')).not.toBe(before);
  await page.getByText(/1 balance has changed since/).waitFor();
  expect(await page.getByRole('main').innerText()).not.toMatch(/left out|DeFi/);
  expect(await page.getByRole('tab').allInnerTexts()).toEqual([
    ...['Overview', 'Activity', 'Tokens', 'Collectibles', 'Approvals', 'Transactions'],
  ]);
  const claims = async () => (await page.getByRole('main').innerText()).match(/\$[\d.]+/g);
  expect(await claims()).toBeNull();
  await page.getByRole('tab', { name: 'Tokens' }).click();
  await page.getByText('No prices: set PRICES').last().waitFor();
  expect(await claims()).toBeNull();
  await page.getByRole('tabpanel', { name: 'Tokens' }).getByText('1 token', { exact: true }).waitFor();
  await page.getByRole('tab', { name: 'Collectibles' }).click();
  await page.getByText('No collectible on this chain').waitFor();
  expect(await page.getByRole('main').innerText()).not.toContain('choose them above');
  await page.getByRole('tab', { name: 'Transactions' }).click();
  const failed = page.locator(`[data-hash="${failing}"]`);
  await failed.waitFor();
  expect(await failed.innerText()).toMatch(/sends value[\s\S]*failed[\s\S]*2\.5 USDC/);
  await failed.getByRole('button', { name: /^Details/ }).click();
  await failed.getByText('It failed: reverted without a reason').waitFor();

  // Nothing is called where a contract is created, or nothing is sent.
  const created = await sendTransaction(anvil.url, undefined, '0x00');
  await receiptOf(anvil.url, created);
  const sent = await sendTransaction(anvil.url, friend, '0x', { value: 0n });
  await receiptOf(anvil.url, sent);
  await page.goto(`${gateway.url}/#/tx/31337/${created}`);
  await page.getByText(/^Created a contract at 0x/).waitFor();
  await page.goto(`${gateway.url}/#/tx/31337/${sent}`);
  await page.getByText(/^Sent .*0 USDC to 0x/).waitFor();
  await page.getByText('sends nothing', { exact: true }).waitFor();
  expect(opened.faults).toEqual([]);
});
