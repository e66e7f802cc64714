import { expect, test } from 'vitest';
import { codesOf, startGateway } from '../support/gateway/start.ts';
import { type Answer, startFakeService } from '../support/upstream/fake-service.ts';
import { documentOf, type Mutation } from './support/documents.ts';
import { inputOf, UNKNOWN_ID } from './support/inputs.ts';
import { restWebhook } from './support/rest.ts';

/** A change that upstream answers 2xx with another body than the contract promises. */

const startScripted = async (other: Answer) => {
  const fake = await startFakeService({ other });
  const gateway = await startGateway({ UPSTREAM_URL: fake.url });
  return {
    fake,
    change: (mutation: Mutation) =>
      gateway.query<{ answer: object }>(documentOf(mutation), { input: inputOf(mutation) }),
    ask: (document: string, mutation: Mutation) =>
      gateway.query<{ answer: object }>(document, { input: inputOf(mutation) }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
};

test.each([
  ['text', { text: 'OK' }],
  ['markup', { text: '<p>done</p>', headers: { 'content-type': 'text/html' } }],
  ['half of JSON', { text: '{"ok":' }],
  ['a body that is cut', { text: 'x'.repeat(1000), cutAfterBytes: 10 }],
  ['a megabyte', { text: 'x'.repeat(1024 * 1024) }],
  ['another 2xx', { status: 202, text: 'queued' }],
  ['nothing', { status: 204 }],
  ['an empty body that is said to be JSON', { status: 200 }],
  ['text that is said to be JSON', { text: 'OK', headers: { 'content-type': 'application/json' } }],
] as const)('a change without an answer body has succeeded, answered with %s', async (_what, reply) => {
  await using service = await startScripted(() => reply);
  for (const mutation of ['updateWebhookAddresses', 'replaceWebhookAddresses', 'deleteWebhook'] as const) {
    const { errors, data } = await service.change(mutation);
    expect(errors).toBeUndefined();
    expect(JSON.stringify(data)).not.toContain('WebhookError');
  }
  expect(service.fake.requests.map(({ method }) => method)).toEqual(['PATCH', 'PUT', 'DELETE']);
});

test.each([
  ['text', { text: 'OK' }],
  ['markup', { text: '<p>done</p>', headers: { 'content-type': 'text/html' } }],
  ['nothing', { status: 204 }],
  ['another object', { json: { ok: true } }],
] as const)('a webhook whose change is answered with %s is read again', async (_what, reply) => {
  const webhook = restWebhook({ id: UNKNOWN_ID, name: 'changed' });
  await using service = await startScripted(({ method }) => (method === 'GET' ? { json: webhook } : reply));
  for (const mutation of ['updateWebhook', 'connectWebhook'] as const) {
    const { errors, body } = await service.change(mutation);
    expect(errors).toBeUndefined();
    expect(body).toContain('"name":"changed"');
  }
  expect(service.fake.requests.map(({ method }) => method)).toEqual(['PATCH', 'GET', 'PATCH', 'GET']);
});

test.each<[mutation: Mutation, name: string]>([
  ['createWebhook', 'CreateWebhook'],
  ['updateWebhook', 'UpdateWebhook'],
  ['connectWebhook', 'ConnectWebhook'],
])(
  '%s has succeeded without a webhook in any answer where the client selects nothing of it',
  async (mutation, name) => {
    // A deployment with nothing but the changes.
    await using service = await startScripted(({ method }) =>
      method === 'GET' ? { status: 405 } : { text: 'OK' },
    );
    const document = `mutation ($input: ${name}Input!) { answer: ${mutation}(input: $input) { __typename } }`;
    const { errors, data } = await service.ask(document, mutation);
    expect(errors).toBeUndefined();
    expect(data).toEqual({ answer: { __typename: `${name}Payload` } });
  },
);

test('the error says that a change was applied when the webhook can not be read again', async () => {
  await using service = await startScripted(({ method }) =>
    method === 'GET' ? { status: 500 } : { text: 'OK' },
  );
  const reply = await service.change('updateWebhook');
  expect(codesOf(reply)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  expect(reply.errors?.[0]?.message).toMatch(
    /^The service changed the webhook, but its answer does not show it\./,
  );
});

test('the error says so of a creation as well, which is not retried', async () => {
  await using service = await startScripted(() => ({ text: 'OK' }));
  const reply = await service.change('createWebhook');
  expect(codesOf(reply)).toEqual(['UPSTREAM_INVALID_RESPONSE']);
  expect(reply.errors?.[0]?.message).toMatch(
    /^The service created the webhook, but its answer does not show it/,
  );
  expect(service.fake.requests).toHaveLength(1);
});
