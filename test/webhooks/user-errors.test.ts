import { describe, expect, test } from 'vitest';
import { BOB } from '../backend/dispatch/support/builders.ts';
import { codesOf, heldKey, startGateway, type Variables } from '../support/gateway/start.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { change, createdId, documentOf, MUTATIONS, type Mutation, readWebhook } from './support/documents.ts';
import { inputOf, UNKNOWN_ID } from './support/inputs.ts';
import { startManaged } from './support/managed.ts';

const WRONG_TYPE = [
  ['BALANCES', { activityType: 'SWAP' }, 'Webhook type balances cannot have activity_type'],
  ['BALANCES', { transactionType: 'SENDER' }, 'Webhook type balances cannot have transaction_type'],
  ['BALANCES', { counterparty: BOB }, 'Webhook type balances cannot have counterparty'],
  ['TRANSACTIONS', { activityType: 'SWAP' }, 'Webhook type transactions cannot have activity_type'],
  ['ACTIVITIES', { transactionType: 'RECEIVER' }, 'Webhook type activities cannot have transaction_type'],
  ['ACTIVITIES', { counterparty: BOB }, 'Webhook type activities cannot have counterparty'],
] as const;

describe('a filter of another type is a WebhookError with the message of the service, and changes nothing', () => {
  test.each(WRONG_TYPE)('%s with %j', async (type, filter, message) => {
    await using managed = await startManaged();
    const { gateway } = managed;
    const refusal = { __typename: 'WebhookError', code: 'TYPE_MISMATCH', message };

    const webhookId = await createdId(gateway, { type });
    const before = await managed.states();
    expect(await change(gateway, 'updateWebhook', { webhookId, name: 'changed', ...filter })).toEqual(
      refusal,
    );
    const creation = { name: 'new', type, addresses: [BOB], ...filter };
    expect(await change(gateway, 'createWebhook', creation)).toEqual(refusal);
    expect(await managed.states()).toEqual(before);
  });

  test.each([
    'transaction_type can only be used with webhooks of type transactions',
    'activity_type is not allowed for this type',
    'Webhook type balances cannot have activity_type',
  ])('whatever the words of the service: %s', async (serviceMessage) => {
    const refusal = await refusedWith({ status: 400, text: serviceMessage });
    expect(refusal).toEqual({ __typename: 'WebhookError', code: 'TYPE_MISMATCH', message: serviceMessage });
  });
});

describe('any other refusal of the service is a WebhookError too', () => {
  test('chains without webhooks change nothing', async () => {
    await using managed = await startManaged();
    const webhookId = await createdId(managed.gateway);
    const before = await managed.state(webhookId);
    const answer = await change(managed.gateway, 'updateWebhook', {
      webhookId,
      active: false,
      chainIds: [42170],
    });
    expect(answer).toMatchObject({ code: 'REJECTED', message: expect.stringContaining('42170') });
    expect(await managed.state(webhookId)).toEqual(before);
  });

  test.each([
    [400, 'Invalid URL: UUID parsing failed: invalid group length in group 4: expected 12, found 11'],
    [422, 'Failed to deserialize the JSON body into the target type: missing field `name`'],
    [409, 'Too many webhooks'],
  ])('%i %s', async (status, text) => {
    expect(await refusedWith({ status, text })).toEqual({
      __typename: 'WebhookError',
      code: 'REJECTED',
      message: text,
    });
  });

  test('a refusal without a message has one of the gateway', async () => {
    const { message } = await refusedWith({ status: 400 });
    expect(message).toContain('400');
  });
});

describe('a failure that the caller can not correct is an error of the operation', () => {
  test.each([
    [401, 'UPSTREAM_REJECTED'],
    [402, 'QUOTA_EXCEEDED'],
    [403, 'UPSTREAM_REJECTED'],
    [429, 'RATE_LIMITED'],
    [500, 'UPSTREAM_UNAVAILABLE'],
  ])('%i is %s', async (status, code) => {
    await using service = await startFakeService({ other: () => ({ status, text: heldKey }) });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    for (const mutation of MUTATIONS) {
      const reply = await gateway.query(documentOf(mutation), { input: inputOf(mutation) });
      expect(reply.data ?? null).toBeNull();
      expect(codesOf(reply)).toEqual([code]);
      expect(reply.body).not.toContain(heldKey);
    }
  });
});

test('an unknown webhook is NOT_FOUND to every change, and null to read', async () => {
  await using managed = await startManaged();
  for (const mutation of MUTATIONS.filter((each) => each !== 'createWebhook')) {
    const answer = await change(managed.gateway, mutation, inputOf(mutation));
    expect(answer).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining(UNKNOWN_ID) });
  }
  expect(await readWebhook(managed.gateway, UNKNOWN_ID)).toBeNull();
});

describe('invalid input never reaches the service', () => {
  const short = UNKNOWN_ID.slice(0, -1);
  const ADDRESS = freshAddress();
  const misspelt = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'.replace('5aA', '5AA');
  const WRONG: [Mutation, Variables][] = [
    ['updateWebhook', { webhookId: short }],
    ['deleteWebhook', { webhookId: `${UNKNOWN_ID}0` }],
    ['connectWebhook', { webhookId: 'not-a-uuid' }],
    ['updateWebhook', { url: 'nowhere' }],
    ['updateWebhook', { url: 'ftp://example.org' }],
    ['createWebhook', { url: '/deliveries' }],
    ['updateWebhook', { chainIds: [-1] }],
    ['updateWebhook', { chainIds: [null] }],
    ['updateWebhook', { counterparty: '0x12' }],
    ['createWebhook', { tokenAddress: misspelt }],
    ['updateWebhook', { assetType: 'ERC4626' }],
    ['updateWebhook', { activityType: 'transfer' }],
    ['createWebhook', { type: 'BLOCKS' }],
    ['createWebhook', { name: null }],
    ['createWebhook', { addresses: null }],
    ['updateWebhookAddresses', { addAddresses: [ADDRESS, 'b0b'] }],
    ['updateWebhookAddresses', { removeAddresses: [misspelt] }],
    ['replaceWebhookAddresses', { addresses: [ADDRESS, null] }],
  ];

  test.each(WRONG)('%s %j', async (mutation, wrong) => {
    await using service = await startFakeService();
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const reply = await gateway.query(documentOf(mutation), { input: { ...inputOf(mutation), ...wrong } });
    expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
    expect(service.requests).toEqual([]);
  });
});

/** The result of an update that the service answers with `reply`. */
const refusedWith = async (reply: { status: number; text?: string }) => {
  await using service = await startFakeService({ other: () => reply });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  return await change(gateway, 'updateWebhook', { webhookId: UNKNOWN_ID, name: 'changed' });
};
