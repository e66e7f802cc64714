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

  // An empty URL means this gateway, as it does for a new webhook.
  const edit = async (field: RegExp, value: string) => {
    await rowOf('mine').getByRole('button', { name: /^edit/i }).click();
    await dialog.getByLabel(field).fill(value);
    await dialog.getByRole('button', { name: /^save/i }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const here = await find('mine');
  await edit(/^Token address/, BOB);
  expect(await find('mine')).toEqual({ ...here, tokenAddress: BOB });
  await edit(/^url/i, 'https://elsewhere.example/again');
  expect(await find('mine')).toMatchObject({ deliversHere: false, url: 'https://elsewhere.example/again' });
  await edit(/^url/i, '');
  expect(await find('mine')).toEqual({ ...here, tokenAddress: BOB });

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
  const frameOf = (label: RegExp) =>
    dialog.getByLabel(label).evaluate((field) => getComputedStyle(field).borderColor);
  expect(await frameOf(/^url/i)).not.toBe(await frameOf(/^name/i));
});

test('why a webhook fails is said in its row, and how to mend it', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({
    SANDBOX_BLOCK_MS: '3600000',
    // The sandbox signs nothing.
    DELIVERY_SIGNATURE_SECRET: 'another secret',
  });
  const { webhooks } = await gateway.data<Listed['data']>(WEBHOOKS);
  const [refused, moved, lost] = webhooks.nodes.map(({ webhookId }) => String(webhookId));
  const update = (webhookId: string | undefined, settings: string) =>
    gateway.query(
      `mutation { updateWebhook(input: { webhookId: "${webhookId}", ${settings} }) { __typename } }`,
    );
  const own = new URL(String(webhooks.nodes[0]?.url));
  await update(moved, `url: "https://old.example${own.pathname}"`);
  await update(lost, `url: "${own.origin}/deliveries/another/token"`);

  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const rowOf = (webhookId = '') => page.locator(`[data-webhook="${webhookId}"]`);
  await rowOf(moved).getByText('PUBLIC_URL now says').waitFor();
  await rowOf(lost).getByText('DELIVERY_SECRET has changed').waitFor();
  await page.getByRole('button', { name: '2 failing' }).click();
  await rowOf(refused).waitFor({ state: 'detached' });
  expect(await page.locator('[data-state="failing"]').count()).toBe(2);
  await page.getByRole('button', { name: '2 failing' }).click();

  await rowOf(refused)
    .getByRole('button', { name: /^Send test event/ })
    .click();
  await rowOf(refused).getByText('The last delivery was refused: 401, expected a valid signature').waitFor();
  await rowOf(refused).getByText('must be the secret that the service signs with').waitFor();
  expect(await rowOf(refused).getAttribute('data-state')).toBe('failing');
  await rowOf(refused)
    .getByRole('button', { name: /^Deliveries/ })
    .click();
  const attempt = rowOf(refused).getByRole('listitem').first();
  expect(await attempt.innerText()).toMatch(/401\s.*expected a valid signature/s);
  // The link keeps what is open.
  await page.reload();
  await rowOf(refused).getByRole('listitem').first().waitFor();

  await rowOf(lost)
    .getByRole('button', { name: /^Point here/ })
    .click();
  await rowOf(lost).getByText('does not reach').waitFor();
  await update(refused, 'active: false');
  await update(moved, 'url: null');
  await update(lost, 'chainIds: []');
  await page.reload();
  await rowOf(refused).getByText('until the webhook is resumed').waitFor();
  await rowOf(moved).getByText('It has no URL, so nothing can be delivered').waitFor();
  await rowOf(lost).getByText('list of chains is empty').waitFor();
  await update(lost, 'chainIds: null');
  await gateway.query(
    `mutation { replaceWebhookAddresses(input: { webhookId: "${lost}", addresses: [] }) { __typename } }`,
  );
  await page.reload();
  await rowOf(lost)
    .getByRole('button', { name: /^Deliveries/ })
    .click();
  await rowOf(lost).getByText('It has no addresses').waitFor();
  // A closed row, which asks for nothing, does not go on saying it once there are some.
  await rowOf(lost)
    .getByRole('button', { name: /^Deliveries/ })
    .click();
  await rowOf(lost)
    .getByRole('button', { name: /^Addresses/ })
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^More addresses/).fill(ALICE);
  await dialog.getByRole('button', { name: /^Add/ }).click();
  await dialog.getByTitle(ALICE).first().waitFor();
  await page.keyboard.press('Escape');
  await rowOf(lost).getByText('It has no addresses').waitFor({ state: 'detached' });
  expect(opened.faults).toEqual([]);
});

test('where a day has more deliveries than are read, their number says that it is at least that', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  const { webhooks } = await gateway.data<Listed['data']>(WEBHOOKS);
  const webhookId = webhooks.nodes.find(({ name }) => name === 'Demo: activities')?.webhookId;
  const sendTest = () =>
    gateway.query(`mutation { sendTestEvent(input: { webhookId: "${webhookId}" }) { __typename } }`);
  for (let sent = 0; sent < 7; sent += 1) await sendTest();
  const stored = async () => {
    const { deliveries } = await gateway.data<{ deliveries: { nodes: unknown[] } }>(
      '{ deliveries(first: 100) { nodes { id } } }',
    );
    return deliveries.nodes.length;
  };
  await expect.poll(stored).toBe(7);
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  // Pages of one delivery stand for pages of a thousand.
  await page.route('**/graphql', (route) => {
    const body = route.request().postData() ?? '';
    return route.continue({ postData: body.replace('"last":1000', '"last":1') });
  });
  await page.goto(`${gateway.url}/#/webhooks`);
  const row = page.locator(`[data-webhook="${webhookId}"]`);
  await row.getByText('at least 5 in 24 h').waitFor();
  const button = row.getByRole('button', { name: /^Send test event/ });
  const clickTest = async () => {
    // A click while another test event is on its way does nothing.
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('false');
    await button.click();
  };
  await clickTest();
  await row.getByText('at least 6 in 24 h').waitFor();
  // An answer that fails once loses nothing of what was read before.
  let failed = 0;
  await page.route('**/graphql', (route) => {
    if (!(route.request().postData() ?? '').includes('"after"') || failed > 0) return route.fallback();
    failed += 1;
    return route.fulfill({ json: { data: { deliveries: null } } });
  });
  await clickTest();
  await expect.poll(() => failed).toBe(1);
  await clickTest();
  await row.getByText('at least 8 in 24 h').waitFor();
  expect(opened.faults).toEqual([]);
});

test('a watch is one row: it says what is left of it, repairs it and ends it', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await gateway.query(`mutation { watchWallet(input: { address: "${ALICE}" }) { __typename } }`);
  const watchedTypes = async () => {
    const { watchedWallets } = await gateway.data<{ watchedWallets: { nodes: { types: string[] }[] } }>(
      '{ watchedWallets { nodes { types } } }',
    );
    return watchedWallets.nodes.map(({ types }) => types);
  };
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const dialog = page.getByRole('dialog');
  const watch = page.locator(`[data-watch="${ALICE}"]`);
  await watch.waitFor();
  expect(await page.locator('[data-webhook], [data-watch]').count()).toBe(4);
  expect(await watch.getAttribute('data-state')).toBe('waiting');

  await watch.getByRole('button', { name: /^Its 3 webhooks/ }).click();
  const part = watch.locator('[data-webhook]').filter({ hasText: 'Balance changes' });
  await part.getByRole('button', { name: /^Delete/ }).click();
  await dialog.getByText('Without it, the wallet is watched for transactions and activities only.').waitFor();
  await dialog.getByRole('button', { name: /^Delete/ }).click();
  await part.waitFor({ state: 'detached' });
  await watch.getByText('It delivers transactions and activities, not balance changes.').waitFor();
  expect(await watchedTypes()).toEqual([['TRANSACTIONS', 'ACTIVITIES']]);

  await page.goto(`${gateway.url}/#/wallet/${ALICE}`);
  await page.getByText('Watching transactions and activities only.').waitFor();
  await page.goto(`${gateway.url}/#/webhooks?watch=${ALICE}`);

  await watch.getByRole('button', { name: /^Watch everything/ }).click();
  await part.waitFor();
  expect(await watchedTypes()).toEqual([['TRANSACTIONS', 'ACTIVITIES', 'BALANCES']]);

  const chainless = `webhookId: "${await part.getAttribute('data-webhook')}", chainIds: []`;
  await gateway.query(`mutation { updateWebhook(input: { ${chainless} }) { __typename } }`);
  await page.reload();
  await watch.getByText('Balance changes: Its list of chains is empty').waitFor();
  expect(await watch.getAttribute('data-state')).toBe('failing');

  await watch.getByRole('button', { name: /^Stop watching/ }).click();
  await dialog.getByRole('button', { name: /^Stop watching/ }).click();
  await watch.waitFor({ state: 'detached' });
  expect(await watchedTypes()).toEqual([]);
  expect(opened.faults).toEqual([]);
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
  const menu = page.locator('summary', { hasText: 'Any chain' });
  await button.click();
  await menu.click();
  const option = page.getByLabel('ethereum', { exact: true });
  await option.waitFor();
  await page.getByLabel(/^Name/).click();
  await option.waitFor({ state: 'hidden' });
});
