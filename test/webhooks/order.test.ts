import { describe, expect, test } from 'vitest';
import { codesOf, startGateway } from '../support/gateway/start.ts';
import { type Reply, type SeenRequest, startFakeService } from '../support/upstream/fake-service.ts';
import { change, documentOf } from './support/documents.ts';
import { inputOf } from './support/inputs.ts';
import { startManaged } from './support/managed.ts';
import { idOf, restWebhook } from './support/rest.ts';

const KNOWN = idOf(1);

const updated = ({ path, body }: SeenRequest): Reply =>
  path.endsWith('/addresses') ? { text: '' } : { json: restWebhook({ id: KNOWN, ...JSON.parse(body) }) };

describe('two concurrent updates of one webhook', () => {
  test('reach the service one after the other, in their order, however long the first takes', async () => {
    const released = Promise.withResolvers<void>();
    const other = async (request: SeenRequest) => {
      if (request.body.includes('first')) await released.promise;
      return updated(request);
    };
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const arrived = () => service.requests.map(({ method, body }) => [method, JSON.parse(body || 'null')]);

    const first = change(gateway, 'updateWebhook', { webhookId: KNOWN, name: 'first' });
    await expect.poll(arrived).toHaveLength(1);
    const addresses = change(gateway, 'replaceWebhookAddresses', { webhookId: KNOWN, addresses: [] });
    const elsewhere = change(gateway, 'updateWebhook', { webhookId: idOf(2), name: 'elsewhere' });
    await elsewhere;
    // The update of another webhook did not wait; the second one of this webhook still does.
    expect(arrived()).toEqual([
      ['PATCH', { name: 'first' }],
      ['PATCH', { name: 'elsewhere' }],
    ]);
    released.resolve();
    expect((await first).webhook.name).toBe('first');
    expect(await addresses).toMatchObject({ webhookId: KNOWN });
    expect(arrived().at(-1)).toEqual(['PUT', { addresses: [] }]);
  });

  test('a failed update does not fail the next', async () => {
    const other = (request: SeenRequest): Reply =>
      request.body.includes('first') ? { status: 500, latencyMs: 100 } : updated(request);
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const update = (name: string) =>
      gateway.query(documentOf('updateWebhook'), { input: { webhookId: KNOWN, name } });
    const first = update('first');
    await expect.poll(() => service.requests.length).toBe(1);
    const second = await update('second');
    expect(codesOf(await first)).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(second.errors).toBeUndefined();
    expect(service.requests.at(-1)?.body).toContain('second');
  });

  test('the newer one never overtakes the older one or its retries', async () => {
    let attempts = 0;
    const other = (request: SeenRequest): Reply => {
      if (!request.body.includes('first')) return updated(request);
      attempts += 1;
      return attempts === 1 ? { status: 503, latencyMs: 100 } : updated(request);
    };
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const update = (name: string) =>
      gateway.query(documentOf('updateWebhook'), { input: { webhookId: KNOWN, name } });
    const first = update('first');
    await expect.poll(() => service.requests.length).toBe(1);
    await Promise.all([first, update('second')]);
    const names = service.requests.map(({ body }) => JSON.parse(body).name);
    expect(names.slice(0, -1).every((name) => name === 'first')).toBe(true);
    expect(names.at(-1)).toBe('second');
  });

  test('the service applies both, also after transient failures', async () => {
    await using managed = await startManaged();
    const { gateway, sandbox } = managed;
    const { webhook } = await change(gateway, 'createWebhook', inputOf('createWebhook'));
    const { webhookId } = webhook;
    sandbox.faults.set([{ path: `*/${webhookId}`, method: 'PATCH', count: 1, latencyMs: 100 }]);
    const names = Array.from({ length: 20 }, (_, index) => `name ${index}`);
    const changes = names.map((name) => change(gateway, 'updateWebhook', { webhookId, name }));
    const answers = await Promise.all(changes);
    expect(answers.map((answer) => answer.webhook.name)).toEqual(names);
    // Only the service's times show the order of twenty requests.
    const last = answers.toSorted((one, other) =>
      String(one.webhook.updatedAt).localeCompare(String(other.webhook.updatedAt)),
    );
    const state = await managed.state(webhookId);
    const newest = last.at(-1)?.webhook.updatedAt ?? '';
    expect(Date.parse(String(state?.updated_at))).toBe(Date.parse(newest));
  });
});

describe('after a change, the operation reads its own write', () => {
  test('for the webhook, its addresses and its position in the list', async () => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const { webhook } = await change(gateway, 'createWebhook', inputOf('createWebhook'));
    const { webhookId } = webhook;
    const fields = '... on UpdateWebhookPayload { webhook { name addresses { nodes { address } } } }';
    const address = `0x${'a1'.repeat(20)}`;
    const seen = await gateway.data<Record<string, { webhook: unknown }>>(
      `mutation ($webhookId: UUID!, $address: Address!) {
        before: updateWebhook(input: { webhookId: $webhookId, name: "before" }) { ${fields} }
        replace: replaceWebhookAddresses(input: { webhookId: $webhookId, addresses: [$address] }) { __typename }
        after: updateWebhook(input: { webhookId: $webhookId, name: "after" }) { ${fields} }
        add: updateWebhookAddresses(input: { webhookId: $webhookId, removeAddresses: [$address] }) { __typename }
        end: updateWebhook(input: { webhookId: $webhookId, name: null }) { ${fields} }
      }`,
      { webhookId, address },
    );
    const old = await managed.state(webhookId);
    expect(old).toMatchObject({ name: null });
    expect(seen.before?.webhook).toMatchObject({ name: 'before', addresses: { nodes: [{}] } });
    expect(seen.after?.webhook).toEqual({ name: 'after', addresses: { nodes: [{ address }] } });
    expect(seen.end?.webhook).toEqual({ name: null, addresses: { nodes: [] } });
  });
});
