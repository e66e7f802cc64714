import { describe, expect, test } from 'vitest';
import { codesOf, type Gateway, startGateway } from '../support/gateway/start.ts';
import { type Reply, type SeenRequest, startFakeService } from '../support/upstream/fake-service.ts';
import { change, documentOf, type Mutation, webhookById } from './support/documents.ts';
import { inputOf } from './support/inputs.ts';
import { idOf, restWebhook } from './support/rest.ts';

const KNOWN = idOf(1);
const UNKNOWN = idOf(404);

/** A deployment with the two updates of the contract and nothing else. `absent` answers the operations that it lacks. */
const promisedOnly =
  (absent: (request: SeenRequest) => Reply, unknown: Reply) =>
  (request: SeenRequest): Reply => {
    if (request.method !== 'PATCH') return absent(request);
    if (!request.path.includes(KNOWN)) return unknown;
    return request.path.endsWith('/addresses') ? { text: '' } : { json: restWebhook({ id: KNOWN }) };
  };

/** The answers of routers to an unknown route. */
const ABSENT: [string, (request: SeenRequest) => Reply][] = [
  ['405', () => ({ status: 405 })],
  ['405 in words', () => ({ status: 405, text: 'Method Not Allowed' })],
  ['404 without a word', () => ({ status: 404 })],
  ['404 in words', () => ({ status: 404, text: '404 page not found' })],
  ['404 as JSON', () => ({ status: 404, json: { message: 'Not Found' } })],
  ['404 with the path', ({ method, path }) => ({ status: 404, text: `Cannot ${method} ${path}` })],
];

const QUERIES = {
  'list webhooks': '{ webhooks { nodes { id } } }',
  'get a webhook': webhookById,
  "list a webhook's addresses": `mutation ($webhookId: UUID!) {
    updateWebhook(input: { webhookId: $webhookId }) {
      ... on UpdateWebhookPayload { webhook { addresses { nodes { id } } } }
    }
  }`,
};

const MUTATIONS: Record<string, Mutation> = {
  'create a webhook': 'createWebhook',
  'delete a webhook': 'deleteWebhook',
  "replace a webhook's addresses": 'replaceWebhookAddresses',
};

describe.each(ABSENT)('a deployment that answers a missing operation with %s', (_, absent) => {
  const other = promisedOnly(absent, { status: 404, text: 'Not Found' });

  test('gets an error that names the missing operation', async () => {
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const replies = [
      ...Object.entries(QUERIES).map(
        async ([purpose, document]) =>
          [purpose, await gateway.query(document, { webhookId: KNOWN })] as const,
      ),
      ...Object.entries(MUTATIONS).map(
        async ([purpose, mutation]) =>
          [purpose, await gateway.query(documentOf(mutation), { input: inputOf(mutation, KNOWN) })] as const,
      ),
    ];
    for (const [purpose, reply] of await Promise.all(replies)) {
      expect(codesOf(reply)).toEqual(['UPSTREAM_REJECTED']);
      expect(reply.errors?.[0]?.message).toContain(`no operation to ${purpose}`);
      expect(reply.errors?.[0]?.extensions.status).toBe(
        absent({ method: '', path: '' } as SeenRequest).status,
      );
    }
  });

  test('can send no test event, which is an answer and no error', async () => {
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    expect(await change(gateway, 'sendTestEvent', inputOf('sendTestEvent', KNOWN))).toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('no operation to send a test event'),
    });
  });

  test('still updates', async () => {
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    for (const mutation of ['updateWebhook', 'updateWebhookAddresses', 'connectWebhook'] as const) {
      expect(await change(gateway, mutation, inputOf(mutation, KNOWN))).not.toHaveProperty('code');
      expect(await change(gateway, mutation, inputOf(mutation, UNKNOWN))).toMatchObject({
        code: 'NOT_FOUND',
      });
    }
    expect(service.requests).toHaveLength(6);
  });
});

test.each(['Webhook not found', 'no such subscription', `${UNKNOWN} not found`])(
  'a 404 that mentions a webhook means the webhook: %s',
  async (text) => {
    await using service = await startFakeService({ other: () => ({ status: 404, text }) });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const { webhook } = await gateway.data<{ webhook: unknown }>(webhookById, { webhookId: UNKNOWN });
    expect(webhook).toBeNull();
    for (const mutation of ['deleteWebhook', 'replaceWebhookAddresses'] as const)
      expect(await change(gateway, mutation, inputOf(mutation, UNKNOWN))).toMatchObject({
        code: 'NOT_FOUND',
        message: text,
      });
    expect(service.requests).toHaveLength(3);
  },
);

test('a 404 without a message means the webhook when the service has none of this id', async () => {
  await using service = await startFakeService({ other: () => ({ status: 404 }) });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  const { webhook } = await gateway.data<{ webhook: unknown }>(webhookById, { webhookId: UNKNOWN });
  expect(webhook).toBeNull();
  for (const mutation of ['deleteWebhook', 'replaceWebhookAddresses'] as const)
    expect(await change(gateway, mutation, inputOf(mutation, UNKNOWN))).toMatchObject({ code: 'NOT_FOUND' });
});

describe.each([400, 422])('a deployment that answers a change of no addresses with %i', (status) => {
  const refusal: Reply = { status, text: 'Failed to deserialize the JSON body: nothing to change' };

  /** Answers DELETE, PUT and reads of one webhook as a router without them does. `listing` answers the list of webhooks. */
  const refusing =
    (listing: Reply) =>
    ({ method, path }: SeenRequest): Reply => {
      if (method === 'PATCH') return refusal;
      return method === 'GET' && path.endsWith('/webhooks') ? listing : { status: 404, text: 'Not Found' };
    };

  const answers = async (gateway: Gateway, webhookId: string) => [
    await gateway.query(webhookById, { webhookId }),
    ...(await Promise.all(
      (['deleteWebhook', 'replaceWebhookAddresses'] as const).map((mutation) =>
        gateway.query(documentOf(mutation), { input: inputOf(mutation, webhookId) }),
      ),
    )),
  ];

  test.each<[what: string, listing: Reply]>([
    ['does not list webhooks', { status: 405 }],
    ['lists the webhook', { json: { webhooks: [restWebhook({ id: KNOWN })] } }],
    ['lists more webhooks than one page holds', { json: { webhooks: [], next_offset: 'more' } }],
  ])('and %s says which operation it lacks, not that there is no webhook', async (_what, listing) => {
    await using service = await startFakeService({ other: refusing(listing) });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const replies = await answers(gateway, KNOWN);
    expect(replies.map(codesOf)).toEqual(Array(3).fill(['UPSTREAM_REJECTED']));
    expect(replies.map(({ errors }) => errors?.[0]?.message)).toEqual(
      ['get a webhook', 'delete a webhook', "replace a webhook's addresses"].map((purpose) =>
        expect.stringContaining(`no operation to ${purpose}`),
      ),
    );
  });

  test('and lists all webhooks without this one has no such webhook', async () => {
    const listing = { json: { webhooks: [restWebhook({ id: KNOWN })] } };
    await using service = await startFakeService({ other: refusing(listing) });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const [read, ...changes] = await answers(gateway, UNKNOWN);
    expect(read?.data).toEqual({ webhook: null });
    expect(changes.map(({ data }) => data)).toEqual([
      { answer: expect.objectContaining({ code: 'NOT_FOUND' }) },
      { answer: expect.objectContaining({ code: 'NOT_FOUND' }) },
    ]);
  });
});

test('the gateway reads whether a webhook exists, without a write, where the service lists webhooks', async () => {
  const other = ({ method, path }: SeenRequest): Reply =>
    method === 'GET' && path.endsWith('/webhooks')
      ? { json: { webhooks: [restWebhook({ id: KNOWN })] } }
      : { status: 404 };
  await using service = await startFakeService({ other });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  const reply = await gateway.query(documentOf('deleteWebhook'), { input: inputOf('deleteWebhook', KNOWN) });
  expect(codesOf(reply)).toEqual(['UPSTREAM_REJECTED']);
  expect(service.requests.map(({ method }) => method)).toEqual(['DELETE', 'GET']);
});
