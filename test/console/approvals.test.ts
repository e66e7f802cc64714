import { expect, test } from 'vitest';
import type { Hex } from '../../src/backend/types.ts';
import { startAnvil } from '../backend/indexer/support/anvil.ts';
import { accountsOf, deploy, receiptOf, sendTransaction } from '../backend/indexer/support/contracts.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';

/** Who may move what of a wallet, as the console says it, and the calls that end it. */

const UNLIMITED = 2n ** 256n - 1n;

test('each open allowance is a sentence with what is at risk, and ends by the call that the page shows', async (context) => {
  needBrowser(context);
  await using anvil = await startAnvil();
  const [wallet = '0x', spender = '0x', other = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['<b>Dollar</b>', '=USD', 6]);
  const art = await deploy(anvil.url, 'Art', ['Pictures', 'ART']);
  await coin.mine('mint', [wallet, 50_000_000n]);
  await coin.mine('approve', [other, 60_000_000n]);
  await coin.mine('approve', [spender, UNLIMITED]);
  for (const id of [1n, 2n]) await art.mine('mint', [wallet, id, 'ipfs://one']);
  await art.mine('approve', [other, 1n]);
  await art.mine('setApprovalForAll', [spender, true]);
  await using gateway = await startGateway(
    { CHAINS: `31337=${anvil.url}`, EXTRA_CHAINS: '31337:mychain:ETH:default' },
    { readsChains: true },
  );
  await using opened = await openPage(`${gateway.url}/#/wallet/${wallet}?tab=approvals`);
  const { page } = opened;
  let reads = 0;
  page.on('request', (request) => {
    if (request.postData()?.includes('query WalletBalances')) reads++;
  });
  const rows = page.locator('[data-approval]');
  await expect.poll(() => rows.count()).toBe(4);
  await page.getByText('It could take 50 =USD now').first().waitFor();
  const said = (await rows.allInnerTexts()).map((text) => text.match(/May take.*/)?.[0]);
  // Those without a limit come first.
  expect([said.slice(0, 2).toSorted(), said.slice(2).toSorted()]).toEqual([
    [
      'May take any amount of =USD, now and later. It could take 50 =USD now, whose price is not known.',
      'May take every ART of this wallet, now and later.',
    ],
    [
      'May take ART #1, and nothing else.',
      'May take up to 60 =USD. It could take 50 =USD now, whose price is not known.',
    ],
  ]);
  expect(await page.getByRole('main').innerText()).not.toContain('$');

  // They are found by what they allow, and by who is allowed it.
  const search = page.getByLabel('Search', { exact: true });
  for (const [sought, found] of [
    ['no limit', 2],
    ['art', 2],
    ['art #', 0],
    [spender, 2],
  ] as const) {
    await search.fill(sought);
    await page.getByText(new RegExp(`with ${found} of 4 open allowances`)).waitFor();
    expect([sought, await rows.count()]).toEqual([sought, found]);
  }
  await search.fill('');
  await expect.poll(() => rows.count()).toBe(4);
  const ends = rows.first().getByText('The call that ends it');
  await ends.click();
  const before = reads;
  await page.getByRole('button', { name: /^Find when they were given and used/ }).click();
  await rows
    .first()
    .getByText(/^given (?!last)/)
    .waitFor();
  // What was open stays, and nothing is read again for it.
  await rows.first().getByText('Send this from the wallet').waitFor();
  expect(reads).toBe(before);
  await ends.click();

  // Each call, sent as it stands, ends what it belongs to.
  const calls: { to: Hex; data: Hex }[] = [];
  for (const row of await rows.all()) {
    await row.getByText('The call that ends it').click();
    const to = (await row.locator('dd a').first().getAttribute('title')) ?? '';
    calls.push({
      to: to as Hex,
      data: (await row.getByLabel('data of the call', { exact: true }).innerText()) as Hex,
    });
  }
  for (const { to, data } of calls) await receiptOf(anvil.url, await sendTransaction(anvil.url, to, data));
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).last().click();
      return rows.count();
    })
    .toBe(0);
  expect(opened.faults).toEqual([]);
});

test('a service without approvals has them from activities, and the page says so', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  const approver = '0xb3cf83bcc8153cb9bd8aba4d18e514903bbe4f8d';
  await using opened = await openPage(`${gateway.url}/#/wallet/${approver}?tab=approvals`);
  const { page } = opened;
  await page.getByText('Shown are those that the newest 100 activities left open').waitFor();
  const shown = await page.locator('[data-approval]').count();
  expect(shown).toBeGreaterThan(3);
  await page.getByText(/\$[\d,.]+ at risk/).waitFor();
  const first = page.locator('[data-approval]').first();
  await expect.poll(() => first.innerText()).toMatch(/May take (any amount|every)/);
  await page.getByRole('button', { name: 'Load more activities: 3 CU' }).click();
  await page.getByText(/those that the newest 1\d\d activities left open/).waitFor();
  expect(opened.faults).toEqual([]);
});
