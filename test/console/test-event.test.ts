import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { idOf, restWebhook } from '../webhooks/support/rest.ts';

/** Test events of webhooks, in a real browser: of the sandbox's own, and of services that tell less. */

test('a test event arrives, with its payload; a service that can send none is said to', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const row = page.locator('[data-webhook]').filter({ hasText: 'Demo: activities' });
  expect(await row.getAttribute('data-state')).toBe('waiting');
  await row.getByRole('button', { name: /^Send test event/ }).click();
  await row.getByText('a delivery has arrived').waitFor();
  await row.getByText('1 in 24 h').waitFor();
  expect(await row.getAttribute('data-state')).toBe('delivering');
  await row.getByRole('button', { name: /^Deliveries/ }).click();
  await row.getByRole('button', { name: 'Payload' }).click();
  await row.getByLabel('Payload').getByText('"tx_hash": "0x74657374').waitFor();
  expect(opened.faults).toEqual([]);

  const webhook = restWebhook({ id: idOf(1), name: 'mine' });
  await using service = await startFakeService({
    other: ({ method, path }) =>
      method === 'POST'
        ? { status: 405 }
        : { json: path.includes(idOf(1)) ? webhook : { webhooks: [webhook] } },
  });
  await using other = await startGateway({ UPSTREAM_URL: service.url });
  await page.goto(`${other.url}/#/webhooks`);
  await page.getByRole('button', { name: /^Send test event to mine/ }).click();
  await page.getByText('This service can’t send test events.').waitFor();
});

test('of a test event elsewhere, only what came of it is said to have come of it', async (context) => {
  needBrowser(context);
  const webhook = restWebhook({ id: idOf(1), name: 'mine', url: 'https://elsewhere.example/hook' });
  const attempt = (id: string, hash: string, accepted: boolean) => ({
    ...{
      delivery_id: id,
      chain_id: 1,
      attempted_at: new Date().toISOString(),
      latency_ms: 5,
      retry_index: 0,
    },
    ...{ accepted, status: accepted ? 200 : 500, problem: accepted ? null : 'it answered 500' },
    ...{ next_attempt_at: null, bytes: 90, body: JSON.stringify({ activities: [{ tx_hash: hash }] }) },
  });
  const [event, own, other] = [
    attempt('event', '0xabcdef', false),
    attempt('own', '0x74657374aa', true),
    attempt('other', '0x74657374bb', false),
  ];
  let attempts: readonly unknown[] = [];
  await using service = await startFakeService({
    other({ method, path }) {
      if (path.endsWith('/attempts')) return { json: { attempts } };
      // An event of its addresses is delivered meanwhile.
      if (method === 'POST') attempts = [event];
      return method === 'POST'
        ? { status: 202 }
        : { json: path.includes(idOf(1)) ? webhook : { webhooks: [webhook] } };
    },
  });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  await using opened = await openPage(`${gateway.url}/#/webhooks`);
  const { page } = opened;
  const button = page.getByRole('button', { name: /^Send test event to mine/ });
  await button.click();
  const asked = () => service.requests.filter(({ path }) => path.endsWith('/attempts')).length;
  await expect.poll(() => attempts).toEqual([event]);
  const before = asked();
  await expect.poll(asked).toBeGreaterThan(before + 1);
  await page.getByText('Waiting for its answer…').waitFor();
  attempts = [own, event];
  await page.getByText('Sent to elsewhere.example, which accepted it.').waitFor();
  // Another client sends one at the same time.
  await page.reload();
  attempts = [];
  await button.click();
  await page.getByText('Waiting for its answer…').waitFor();
  attempts = [other, own, event];
  await page.getByText('Sent to elsewhere.example, as was another test event').waitFor();
  expect(opened.faults).toEqual([]);
});
