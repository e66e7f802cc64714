import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';

/** The view of webhooks, in a real browser, over the sandbox's own webhooks. */

const ALICE = '0x00000000000000000000000000000000000000a1';
const BOB = '0x00000000000000000000000000000000000000b2';

type Listed = { data: { webhooks: { nodes: Record<string, unknown>[] } } };

const WEBHOOKS = `{ webhooks(first: 100) { nodes {
  webhookId name type active url deliversHere tokenAddress addresses(first: 100) { nodes { address } }
} } }`;

test('a webhook is created, edited to null, pointed here and deleted', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  const find = async (name: string) => {
    const { data } = (await gateway.query(WEBHOOKS)) as unknown as Listed;
    return data.webhooks.nodes.find((webhook) => webhook.name === name);
  };
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const dialog = page.getByRole('dialog');
  const rowOf = (name: string) => page.getByRole('listitem').filter({ hasText: name });

  await page.getByRole('button', { name: 'New webhook' }).click();
  await dialog.getByLabel(/^name/i).fill('mine');
  await dialog.getByLabel(/^What it delivers/).selectOption('TRANSACTIONS');
  await dialog.getByLabel(/^addresses/i).fill(`${ALICE}, ${BOB}\n${ALICE}`);
  await dialog.getByLabel(/^url/i).fill('https://elsewhere.example/hook');
  await dialog.getByLabel(/^Token address/).fill(ALICE);
  await dialog.getByRole('button', { name: /^create/i }).click();
  await rowOf('mine').waitFor();
  expect(await find('mine')).toMatchObject({
    type: 'TRANSACTIONS',
    tokenAddress: ALICE,
    url: 'https://elsewhere.example/hook',
    deliversHere: false,
    addresses: { nodes: [{ address: ALICE }, { address: BOB }] },
  });

  await rowOf('mine').getByRole('button', { name: /^edit/i }).click();
  await dialog.getByLabel(/^Token address/).fill('');
  await dialog.getByRole('button', { name: /^save/i }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(async () => (await find('mine'))?.tokenAddress).toBeNull();

  await rowOf('mine')
    .getByRole('button', { name: /^point/i })
    .click();
  await expect.poll(async () => (await find('mine'))?.deliversHere).toBe(true);

  await rowOf('mine')
    .getByRole('button', { name: /^pause/i })
    .click();
  await expect.poll(async () => (await find('mine'))?.active).toBe(false);

  await rowOf('mine')
    .getByRole('button', { name: /^delete/i })
    .click();
  expect(await find('mine')).toBeDefined();
  await dialog.getByRole('button', { name: /^delete/i }).click();
  await rowOf('mine').waitFor({ state: 'detached' });
  expect(await find('mine')).toBeUndefined();
  expect([opened.strange, opened.faults]).toEqual([[], []]);
});

test('what can’t be an address, and what the service refuses, is said at its field', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New webhook' }).click();
  await dialog.getByLabel(/^name/i).fill('mine');
  await dialog.getByLabel(/^addresses/i).fill(`${ALICE} 0x12`);
  await dialog.getByRole('button', { name: /^create/i }).click();
  const addresses = dialog.getByLabel(/^addresses/i);
  await expect.poll(() => addresses.getAttribute('aria-invalid')).toBe('true');
  await dialog.getByText(/0x12/).last().waitFor();
  // What was typed stays.
  expect(await addresses.inputValue()).toContain(ALICE);
  await addresses.fill(ALICE);
  await dialog.getByLabel(/^url/i).fill('ftp://elsewhere.example');
  await dialog.getByRole('button', { name: /^create/i }).click();
  await expect.poll(() => dialog.getByLabel(/^url/i).getAttribute('aria-invalid')).toBe('true');
});

test('addresses are added and removed', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await gateway.query(
    `mutation { createWebhook(input: { name: "mine", type: BALANCES, addresses: ["${ALICE}"] }) { __typename } }`,
  );
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const dialog = page.getByRole('dialog');
  await page
    .getByRole('listitem')
    .filter({ hasText: 'mine' })
    .getByRole('button', { name: /^addresses/i })
    .click();
  await dialog.getByTitle(ALICE).first().waitFor();
  await dialog.getByLabel(/^More addresses/).fill(BOB);
  await dialog.getByRole('button', { name: /^add/i }).click();
  await dialog.getByTitle(BOB).first().waitFor();
  const row = dialog.getByRole('listitem').filter({ has: page.getByTitle(ALICE) });
  await row.getByRole('button', { name: /^remove/i }).click();
  await dialog.getByTitle(ALICE).first().waitFor({ state: 'detached' });
  const { data } = (await gateway.query(WEBHOOKS)) as unknown as Listed;
  expect(data.webhooks.nodes.find(({ name }) => name === 'mine')?.addresses).toEqual({
    nodes: [{ address: BOB }],
  });
});

test('a dialog gives the focus back to what opened it', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const button = page.getByRole('button', { name: 'New webhook' });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => button.evaluate((element) => element.matches(':focus'))).toBe(true);
  const menu = page.getByText(/^Chains/);
  await button.click();
  await menu.click();
  const option = page.getByLabel('ethereum', { exact: true });
  await option.waitFor();
  await page.getByLabel(/^Name/).click();
  await option.waitFor({ state: 'hidden' });
});
