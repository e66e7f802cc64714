import { describe, expect, test } from 'vitest';
import { codesOf, nowhere, startGateway } from './support/gateway.ts';
import { addressOf } from './support/make.ts';

const nothingSpent = { requests: 0, computeUnits: 0, cached: 0 };

describe('what is wrong with a request is said by its code, and costs nothing', () => {
  test.each([
    { what: 'a document that does not parse', document: '{ wallet(', code: 'GRAPHQL_PARSE_FAILED' },
    { what: 'a document without an operation', document: '', code: 'GRAPHQL_PARSE_FAILED' },
    { what: 'a field that does not exist', document: '{ nothing }', code: 'GRAPHQL_VALIDATION_FAILED' },
    { what: 'an argument that is missing', document: '{ wallet { id } }', code: 'GRAPHQL_VALIDATION_FAILED' },
    {
      what: 'a variable that is missing',
      document: 'query ($address: Address!) { wallet(address: $address) { id } }',
      code: 'BAD_USER_INPUT',
    },
    {
      what: 'a variable of the wrong type',
      document:
        'query ($first: Int) { webhooks: __typename @include(if: true) wallets(addresses: []) { transactions(first: $first) { nodes { hash } } } }',
      variables: { first: 'ten' },
      code: 'BAD_USER_INPUT',
    },
    {
      what: 'a UUID that is none',
      document: 'query ($id: UUID!) { webhook(webhookId: $id) { id } }',
      variables: { id: '12345678-1234-1234-1234-12345678901' },
      code: 'BAD_USER_INPUT',
    },
    {
      what: 'a chain id that is no whole number',
      document:
        'query ($a: Address!, $ids: [ChainId!]) { wallet(address: $a) { transactions(chainIds: $ids) { nodes { hash } } } }',
      variables: { a: addressOf(1), ids: [1.5] },
      code: 'BAD_USER_INPUT',
    },
    {
      what: 'a chain id that is a name',
      document:
        'query ($a: Address!, $ids: [ChainId!]) { wallet(address: $a) { transactions(chainIds: $ids) { nodes { hash } } } }',
      variables: { a: addressOf(1), ids: ['ethereum'] },
      code: 'BAD_USER_INPUT',
    },
  ])('$what: $code', async ({ document, variables, code }) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const reply = await gateway.query(document, variables);
    expect(new Set(codesOf(reply))).toEqual(new Set([code]));
    expect(reply.extensions?.upstream).toEqual(nothingSpent);
  });

  test('a body that is not JSON: BAD_USER_INPUT, and 400 where the client takes a status for an answer', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const accept = 'application/graphql-response+json';
    const reply = await gateway.post('{ not json', { accept });
    expect(reply.status).toBe(400);
    expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
    expect(reply.extensions.upstream).toEqual(nothingSpent);
  });
});

test('every answer carries extensions.upstream', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const reply = await gateway.query('{ __typename }');
  expect(reply.data).toEqual({ __typename: 'Query' });
  expect(reply.extensions.upstream).toEqual(nothingSpent);
});
