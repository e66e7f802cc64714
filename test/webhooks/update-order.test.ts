import { expect, test } from 'vitest';
import { eventually } from '../support/clients/subscribe.ts';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { type Reply, startFakeService } from '../support/upstream/fake-service.ts';

const webhookId = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';
const otherId = '019a7b1c-5c01-7e2f-9b41-7c2a1d3f0e52';

const webhook = (id: string) => ({ id, type: 'balances', active: true, url: 'https://example.com/' });

const rename = (gateway: Gateway, id: string, name: string) =>
  gateway.query(
    `mutation ($input: UpdateWebhookInput!) {
      updateWebhook(input: $input) { ... on UpdateWebhookPayload { webhook { webhookId } } }
    }`,
    { input: { webhookId: id, name } },
  );

/** A service whose first answers are scripted, and which then applies each change. */
const startWebhookService = async (...first: Reply[]) =>
  startFakeService({
    other: ({ path }) => first.shift() ?? { json: webhook(path.slice(path.lastIndexOf('/') + 1)) },
  });

const namesIn = (requests: readonly { body: string }[]): string[] =>
  requests.map(({ body }) => JSON.parse(body).name);

test('an update with a transient failure is retried', async () => {
  await using fake = await startWebhookService({ status: 503 });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  expect((await rename(gateway, webhookId, 'one')).errors).toBeUndefined();
  expect(namesIn(fake.requests)).toEqual(['one', 'one']);
});

test('a second update of the webhook does not overtake the first one on its way', async () => {
  await using fake = await startWebhookService({ status: 503, headers: { 'retry-after': '1' } });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const first = rename(gateway, webhookId, 'one');
  await eventually(() => fake.requests.length === 1);
  const second = rename(gateway, webhookId, 'two');
  expect((await first).errors).toBeUndefined();
  expect((await second).errors).toBeUndefined();
  expect(namesIn(fake.requests)).toEqual(['one', 'one', 'two']);
});

test('a failed update does not hold up the next', async () => {
  await using fake = await startWebhookService({ status: 500 });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const first = rename(gateway, webhookId, 'one');
  await eventually(() => fake.requests.length === 1);
  const second = rename(gateway, webhookId, 'two');
  expect((await first).errors).toHaveLength(1);
  expect((await second).errors).toBeUndefined();
});

test('updates of other webhooks do not wait', async () => {
  await using fake = await startWebhookService({ silent: true });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_TIMEOUT_MS: '60000' });
  const stuck = rename(gateway, webhookId, 'one').catch(() => null);
  await eventually(() => fake.requests.length === 1);
  expect((await rename(gateway, otherId, 'two')).errors).toBeUndefined();
  await fake.goDown();
  await stuck;
});

test('an update whose deadline passes in the queue is not sent', async () => {
  await using fake = await startFakeService({ other: () => ({ silent: true }) });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_TIMEOUT_MS: '200' });
  const renamed = Array.from({ length: 16 }, (_, index) => rename(gateway, webhookId, String(index)));
  const codes = (await Promise.all(renamed)).flatMap(codesOf);
  expect(codes).toEqual(Array.from({ length: 16 }, () => 'UPSTREAM_TIMEOUT'));
  // An operation waits as long as three attempts take; a few more are sent with what little time is left.
  expect(fake.requests.length).toBeLessThan(16);
});
