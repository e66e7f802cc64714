import { expect, test } from 'vitest';
import { startReceiver } from '../backend/dispatch/support/receiver.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';

/** What the view of webhooks says of failed deliveries, and how they are sent again, in a real browser. */

const ALICE = '0x00000000000000000000000000000000000000a1';

test('what failed is seen with its status, latency and body, and is sent again; what is stored is replayed', async (context) => {
  needBrowser(context);
  // It refuses what the service sends by itself, later also its retries, and takes what is sent again.
  let isMended = false;
  await using receiver = await startReceiver((_, { headers }) =>
    isMended && (headers['x-sandbox-webhook-retry-index'] ?? '0') === '0' ? 200 : 500,
  );
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await gateway.query(
    `mutation { createWebhook(input: { name: "elsewhere", type: ACTIVITIES, addresses: ["${ALICE}"], url: "${receiver.url}" }) { __typename } }`,
  );
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const row = page.locator('[data-webhook]').filter({ hasText: 'elsewhere' });
  const test = row.getByRole('button', { name: /^Send test event/ });
  await test.click();
  // Whether it fails is told before its deliveries are opened, and after a reload.
  await row.getByText('but the delivery failed: it answered 500.').waitFor();
  await page.reload();
  await row.getByText('The last attempt failed: it answered 500.').waitFor();
  await test.click();
  await row.getByText('but the delivery failed: it answered 500.').waitFor();
  await row.getByText(/^last sent/).waitFor();
  expect(await row.innerText()).not.toMatch(/in 24 h|none yet/);
  await row.getByRole('button', { name: /^Deliveries/ }).click();
  const failed = row.locator('[data-tried]').filter({ hasText: '500' });
  await expect.poll(() => failed.count()).toBe(2);
  expect(await failed.first().innerText()).toMatch(/it answered 500, next attempt at .*500 after \d+ ms/s);
  // The reason of several is said once.
  expect(await row.getByRole('listitem').getByText('it answered 500').count()).toBe(1);
  await row.getByText('The last attempt failed: it answered 500.').waitFor();
  await failed.first().getByRole('button', { name: 'Payload' }).click();
  await row.getByLabel('Payload').getByText('"tx_hash": "0x74657374').waitFor();

  // A retry that fails would come after what is sent again.
  await expect.poll(() => failed.filter({ hasText: 'given up' }).count(), { timeout: 60_000 }).toBe(2);
  isMended = true;
  await failed.last().getByRole('button', { name: 'Resend' }).click();
  await row.getByText('1 delivery was sent again.').waitFor();
  await row
    .getByText('The last attempt was accepted, but 1 delivery before it failed: it can be sent again.')
    .waitFor();
  await row.getByText('but the delivery failed').waitFor({ state: 'detached' });
  expect(await row.getAttribute('data-state')).toBe('partly');
  await row.getByRole('button', { name: 'Failed', exact: true }).click();
  await expect.poll(() => row.locator('[data-tried]').count()).toBe(1);
  // The service has forgotten one of those that the page shows.
  await page.route('**/graphql', (route) => {
    const body = route.request().postData() ?? '';
    return route.continue({ postData: body.replace(/("deliveryIds":\[")[^"]*/, '$1gone') });
  });
  await row.getByRole('button', { name: 'Resend all that failed (1)' }).click();
  await row.getByText('Nothing was sent again. The service no longer knows it.').waitFor();
  await page.unroute('**/graphql');
  await row.getByRole('button', { name: 'Resend all that failed (1)' }).click();
  await row.getByText('1 delivery was sent again.').waitFor();
  await row.getByText('None of the loaded deliveries has failed').waitFor();
  expect(await row.locator('[data-tried]').count()).toBe(0);
  await expect.poll(() => row.getAttribute('data-state')).toBe('delivering');
  await row.getByRole('button', { name: 'Arrived', exact: true }).click();
  await expect.poll(() => row.locator('[data-tried]').count()).toBe(2);

  await page.goto(`${gateway.url}/#/webhooks`);
  const demo = page.locator('[data-webhook]').filter({ hasText: 'Demo: activities' });
  await demo.getByRole('button', { name: /^Send test event/ }).click();
  await demo.getByText('a delivery has arrived').waitFor();
  await demo.getByRole('button', { name: /^Deliveries/ }).click();
  await demo.getByRole('button', { name: 'Replay…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('ftp://elsewhere.example');
  await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
  await dialog.getByText('Expected a URL').waitFor();
  await dialog.getByLabel('URL').fill(`${receiver.url}/mine`);
  await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
  await dialog.getByText('Accepted: 1 of 1.').waitFor();
  expect(receiver.received.filter(({ path }) => path === '/mine')).toHaveLength(1);
  expect([opened.strange, opened.faults]).toEqual([[], []]);
});

test('why nothing answers is said in a sentence, and its attempts by their times', async (context) => {
  needBrowser(context);
  const receiver = await startReceiver();
  const { origin } = new URL(receiver.url);
  await receiver[Symbol.asyncDispose]();
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await gateway.query(
    `mutation { createWebhook(input: { name: "nowhere", type: ACTIVITIES, addresses: ["${ALICE}"], url: "${receiver.url}/secret" }) { __typename } }`,
  );
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const row = page.locator('[data-webhook]').filter({ hasText: 'nowhere' });
  await row.getByRole('button', { name: /^Send test event/ }).click();
  const cause = `nothing answers at ${origin}: the connection was refused`;
  await row.getByText(`but the delivery failed: ${cause}.`).waitFor();
  await row.getByText(`The last attempt failed: ${cause}.`).waitFor();
  await row.getByRole('button', { name: /^Deliveries/ }).click();
  const said = row.locator('[data-tried]').getByText(cause);
  await expect.poll(() => said.getAttribute('title')).toMatch(/ECONNREFUSED/);
  const attempts = row.locator('[data-tried]').getByRole('list', { name: 'Attempts' });
  await expect.poll(() => attempts.innerText()).toMatch(/^\d\d:\d\d:\d\d: no answer after \d+ ms/);
  await page.clock.setSystemTime(Date.now() + 86_400_000);
  await page.reload();
  await expect.poll(() => attempts.innerText()).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d: no answer/);
  expect(opened.faults).toEqual([]);
});
