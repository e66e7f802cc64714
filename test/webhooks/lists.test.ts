import { describe, expect, test } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { codesOf, type Gateway, startGateway, type Variables } from '../support/gateway/start.ts';
import { addressOf } from '../support/upstream/builders.ts';
import { type Answer, type SeenRequest, startFakeService } from '../support/upstream/fake-service.ts';
import { change, createdId, readWebhook } from './support/documents.ts';
import { startManaged } from './support/managed.ts';
import { idOf, restWebhook } from './support/rest.ts';

const PAGE = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
const WEBHOOKS = `query ($first: Int, $after: String) {
  page: webhooks(first: $first, after: $after) { edges { cursor node { key: webhookId } } ${PAGE} }
}`;
const ADDRESSES = `query ($webhookId: UUID!, $first: Int, $after: String) {
  webhook(webhookId: $webhookId) {
    page: addresses(first: $first, after: $after) { edges { cursor node { key: address } } ${PAGE} }
  }
}`;

type Page = {
  edges: ({ cursor: string; node: { key: string } } | null)[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
};

const pageOf = async (gateway: Gateway, document: string, variables: Variables): Promise<Page> => {
  const data = await gateway.data<{ page?: Page; webhook?: { page: Page } }>(document, variables);
  const page = data.page ?? data.webhook?.page;
  if (!page) throw new Error(`expected a page, got ${JSON.stringify(data)}`);
  return page;
};

/** Walks all pages, `first` items at a time. */
const walk = async (gateway: Gateway, document: string, first: number, variables: Variables = {}) => {
  const keys: string[] = [];
  for (let after: string | null = null; ; ) {
    const { edges, pageInfo } = await pageOf(gateway, document, { ...variables, first, after });
    keys.push(...edges.map((edge) => edge?.node.key ?? 'null'));
    expect(pageInfo.hasPreviousPage).toBe(after !== null);
    expect(pageInfo.endCursor).toBe(edges.at(-1)?.cursor ?? null);
    if (!pageInfo.hasNextPage) return keys;
    after = pageInfo.endCursor;
  }
};

const many = (count: number) => Array.from({ length: count }, (_, index) => addressOf(0xadd0 + index));

describe('a list of webhooks', () => {
  test('a walk by one, by three and by many gives the same webhooks, in the order of the service', async () => {
    await using managed = await startManaged();
    for (let number = 0; number < 7; number += 1) await createdId(managed.gateway, { name: `${number}` });
    const expected = (await managed.states()).map(({ id }) => id);
    expect(expected).toHaveLength(10);
    for (const first of [1, 3, 1000]) expect(await walk(managed.gateway, WEBHOOKS, first)).toEqual(expected);
  });

  test('a page has 20 by default, and at most 1,000', async () => {
    await using managed = await startManaged();
    for (let number = 0; number < 20; number += 1) await createdId(managed.gateway);
    expect((await pageOf(managed.gateway, WEBHOOKS, {})).edges).toHaveLength(20);
    for (const first of [-1, 1001]) {
      const reply = await managed.gateway.query(WEBHOOKS, { first });
      expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
      expect(reply.extensions.upstream.requests).toBe(0);
    }
    const none = await managed.gateway.query(WEBHOOKS, { first: 0 });
    expect(none.extensions.upstream.requests).toBe(0);
  });

  test('a malformed webhook is null in its place, the others are whole', async () => {
    const webhooks = [restWebhook(), { id: 7 }, restWebhook({ id: idOf(2) })];
    await using service = await startFakeService({ other: () => ({ json: { webhooks } }) });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const reply = await gateway.query<{ page: Page }>(WEBHOOKS);
    expect(reply.data?.page.edges.map((edge) => edge?.node.key)).toEqual([idOf(1), undefined, idOf(2)]);
    expect(codesOf(reply)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    expect(reply.errors?.[0]?.message).toContain('webhooks[1].id');
  });

  test('is read again by each operation', async () => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const webhookId = await createdId(gateway);
    expect(await walk(gateway, WEBHOOKS, 20)).toContain(webhookId);
    await change(gateway, 'deleteWebhook', { webhookId });
    expect(await walk(gateway, WEBHOOKS, 20)).not.toContain(webhookId);
  });

  test.each([{ webhooks: {} }, {}, [], 'text'])('%j is no list', async (json) => {
    await using service = await startFakeService({ other: () => ({ json }) });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const reply = await gateway.query<{ page: Page | null }>(WEBHOOKS);
    expect(reply.data?.page).toBeNull();
    expect(codesOf(reply)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });

  test('a loop of offsets ends the walk', async () => {
    let number = 0;
    const other: Answer = () => ({
      json: { webhooks: [restWebhook({ id: idOf(number++) })], next_offset: 'again' },
    });
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    expect(codesOf(await gateway.query(WEBHOOKS))).toEqual(['UPSTREAM_INVALID_RESPONSE']);
    expect(service.requests.length).toBeLessThan(5);
  });
});

describe("a webhook's addresses", () => {
  test('a walk by 7, by 100 and by 1,000 gives the same wallets, in the order of the service', async () => {
    await using managed = await startManaged();
    const addresses = many(231);
    const webhookId = await createdId(managed.gateway, { addresses });
    for (const first of [7, 100, 1000])
      expect(await walk(managed.gateway, ADDRESSES, first, { webhookId })).toEqual(addresses);
  });

  test.each([20, 50, 100])('shown addresses can be removed during a walk by %i', async (first) => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const addresses = many(330);
    const webhookId = await createdId(gateway, { addresses });
    const shown: string[] = [];
    for (let after: string | null = null; ; ) {
      const { edges, pageInfo } = await pageOf(gateway, ADDRESSES, { webhookId, first, after });
      const keys = edges.map((edge) => edge?.node.key ?? 'null');
      shown.push(...keys);
      await change(gateway, 'updateWebhookAddresses', { webhookId, removeAddresses: keys });
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(shown).toEqual(addresses);
    expect(await managed.addresses(webhookId)).toEqual([]);
  });

  test("one webhook's cursor is not another's", async () => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const webhookId = await createdId(gateway);
    const other = await createdId(gateway);
    const { pageInfo } = await pageOf(gateway, ADDRESSES, { webhookId });
    const reply = await gateway.query(ADDRESSES, { webhookId: other, after: pageInfo.endCursor });
    expect(codesOf(reply)).toEqual(['INVALID_CURSOR']);
    const list = await gateway.query(WEBHOOKS, { after: pageInfo.endCursor });
    expect(codesOf(list)).toEqual(['INVALID_CURSOR']);
    expect(list.extensions.upstream.requests).toBe(0);
  });

  test('a malformed address is null in its place', async () => {
    const other: Answer = ({ path }) => ({
      json: path.endsWith('/addresses') ? { addresses: [addressOf(1), 7, addressOf(2)] } : restWebhook(),
    });
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const reply = await gateway.query<{ webhook: { page: Page } }>(ADDRESSES, { webhookId: idOf(1) });
    expect(reply.data?.webhook.page.edges.map((edge) => edge?.node.key)).toEqual([
      addressOf(1),
      undefined,
      addressOf(2),
    ]);
    expect(codesOf(reply)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  });
});

describe('one request for one webhook', () => {
  const globalId = (number: number) => Buffer.from(`Webhook:${idOf(number)}`).toString('base64');
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  const one = ({ path }: SeenRequest) => restWebhook({ id: path.slice(path.lastIndexOf('/') + 1) });
  const list = { webhooks: numbers.map((number) => restWebhook({ id: idOf(number) })) };
  const other: Answer = (request) => ({ json: request.path.endsWith('/webhooks') ? list : one(request) });

  test('twenty by nodes, some of them twice, are requested once each and concurrently', async () => {
    const all = Promise.withResolvers<void>();
    await using service = await startFakeService({
      async other(request) {
        if (request.concurrency === 20) all.resolve();
        // No answer before all are asked for; without concurrency they never are.
        await Promise.race([all.promise, sleep(30_000)]);
        return other(request);
      },
    });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const ids = [...numbers, 1, 2].map(globalId);
    const { nodes } = await gateway.data<{ nodes: { id: string }[] }>(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Webhook { name } } }',
      { ids },
    );
    expect(nodes.map(({ id }) => id)).toEqual(ids);
    expect(service.requests).toHaveLength(20);
    expect(Math.max(...service.requests.map(({ concurrency }) => concurrency))).toBe(20);
  });

  test('node, nodes and webhook share one request', async () => {
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    await gateway.data(
      `query ($id: ID!, $webhookId: UUID!) {
        node(id: $id) { id } nodes(ids: [$id]) { id } webhook(webhookId: $webhookId) { id }
      }`,
      { id: globalId(1), webhookId: idOf(1).toUpperCase() },
    );
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    'webhooks { nodes { id } } node(id: $id) { id }',
    'node(id: $id) { id } webhooks { nodes { id } }',
  ])('a webhook in a list of the same operation is not requested again: %s', async (selection) => {
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    await gateway.data(`query ($id: ID!) { ${selection} }`, { id: globalId(3) });
    expect(service.requests.map(({ path }) => path)).toEqual(['/beta/evm/subscriptions/webhooks']);
    await gateway.data(`query ($id: ID!) { ${selection} }`, { id: globalId(21) });
    expect(service.requests).toHaveLength(3);
  });

  test('a deleted webhook leaves the others whole', async () => {
    const gone: Answer = (request) =>
      request.path.endsWith(idOf(2)) ? { status: 404, text: 'Webhook not found' } : other(request);
    await using service = await startFakeService({ other: gone });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const { nodes } = await gateway.data<{ nodes: unknown[] }>(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      { ids: [1, 2, 3].map(globalId) },
    );
    expect(nodes).toEqual([{ id: globalId(1) }, null, { id: globalId(3) }]);
    expect(await readWebhook(gateway, idOf(2))).toBeNull();
  });
});
