import { expect, test } from 'vitest';
import { type GraphQLReply, startGateway } from '../support/gateway/start.ts';
import { addressOf } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { change } from './support/documents.ts';
import { startManaged } from './support/managed.ts';
import { idOf } from './support/rest.ts';

const MANY = 100_000;

type Page = { nodes: { address: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };

const addresses = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => addressOf(0xadd00000 + from + index));

test('a hundred thousand addresses are one request, each once and in order', async () => {
  await using service = await startFakeService({ other: () => ({ text: '' }) });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  const add = addresses(0, 60_000);
  const remove = addresses(50_000, 40_000);
  const { answer } = await gateway.data<{ answer: { added: string[]; removed: string[] } }>(
    `mutation ($input: UpdateWebhookAddressesInput!) {
      answer: updateWebhookAddresses(input: $input) { ... on UpdateWebhookAddressesPayload { added removed } }
    }`,
    { input: { webhookId: idOf(1), addAddresses: [...add, ...add], removeAddresses: remove } },
  );
  expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `PATCH /beta/evm/subscriptions/webhooks/${idOf(1)}/addresses`,
  ]);
  const body = JSON.parse(service.requests[0]?.body ?? '');
  expect(Object.keys(body)).toEqual(['remove_addresses', 'add_addresses']);
  expect(body).toEqual({ remove_addresses: remove, add_addresses: add });
  expect(answer.added).toEqual(add);
  expect(answer.removed).toEqual(addresses(60_000, 30_000));
});

test('a webhook stores them, lists them page by page, and accepts a new list of as many', async () => {
  await using managed = await startManaged();
  const { gateway } = managed;
  const all = addresses(0, MANY);
  const create = `mutation ($input: CreateWebhookInput!) {
    answer: createWebhook(input: $input) { ... on CreateWebhookPayload { webhook { webhookId } } }
  }`;
  const input = { name: 'many', type: 'BALANCES', url: 'https://example.org', addresses: all };
  const { answer } = await gateway.data<{ answer: { webhook: { webhookId: string } } }>(create, { input });
  const { webhookId } = answer.webhook;

  const page = `query ($webhookId: UUID!, $after: String) {
    webhook(webhookId: $webhookId) {
      addresses(first: 1000, after: $after) { nodes { address } pageInfo { hasNextPage endCursor } }
    }
  }`;
  const walked: string[] = [];
  for (let after: string | null = null; ; ) {
    const reply: GraphQLReply<{ webhook: { addresses: Page } }> = await gateway.query(page, {
      webhookId,
      after,
    });
    const { nodes, pageInfo }: Page = reply.data?.webhook.addresses ?? expect.fail(reply.body);
    walked.push(...nodes.map(({ address }) => address));
    // The webhook, the page on which the cursor's address lies, and ten that follow it: as many at the end as at the start.
    expect(reply.extensions.upstream.requests).toBeLessThanOrEqual(12);
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  expect(walked).toEqual(all);

  const replace = `mutation ($input: ReplaceWebhookAddressesInput!) {
    answer: replaceWebhookAddresses(input: $input) { ... on ReplaceWebhookAddressesPayload { addresses } }
  }`;
  const next = addresses(MANY, MANY);
  const replaced = await gateway.data<{ answer: { addresses: string[] } }>(replace, {
    input: { webhookId, addresses: [...next, ...next.slice(0, 10)] },
  });
  expect(replaced.answer.addresses).toEqual(next);
  expect(await managed.addresses(webhookId)).toEqual(next.slice(0, 1000));
});

test('a change answers with the edges and ids that a client adds to and removes from its lists', async () => {
  await using managed = await startManaged();
  const { gateway } = managed;
  const [kept = '', gone = '', fresh = ''] = addresses(0, 3);
  const { webhook, webhookEdge } = await change(gateway, 'createWebhook', {
    name: 'edges',
    type: 'TRANSACTIONS',
    addresses: [kept, gone],
  });
  const { webhookId } = webhook;
  expect(webhookEdge.node).toEqual({ webhookId });
  const { addedEdges, removedIds } = await change(gateway, 'updateWebhookAddresses', {
    webhookId,
    addAddresses: [fresh],
    removeAddresses: [gone],
  });
  const [edge = expect.fail('expected an edge')] = addedEdges;
  const globalId = (address: string) => Buffer.from(`Wallet:${address}`).toString('base64');
  expect(edge.node.id).toBe(globalId(fresh));
  expect(removedIds).toEqual([globalId(gone)]);

  // Their cursors are those of the lists: what was created last has nothing behind it, and neither has what was added last.
  const behind = await gateway.data<{
    webhooks: { nodes: unknown[] };
    webhook: { addresses: { nodes: unknown[] } };
  }>(
    `query ($webhookId: UUID!, $webhook: String, $address: String) {
      webhooks(after: $webhook) { nodes { id } }
      webhook(webhookId: $webhookId) { addresses(after: $address) { nodes { id } } }
    }`,
    { webhookId, webhook: webhookEdge.cursor, address: edge.cursor },
  );
  expect(behind).toEqual({ webhooks: { nodes: [] }, webhook: { addresses: { nodes: [] } } });
});
