import { describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { codesOf, nowhere, startGateway } from '../../support/gateway/start.ts';
import { addressOf } from '../../support/upstream/builders.ts';

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
      what: 'an invalid UUID',
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

describe('what is refused before it runs is said in the same words: what was expected, and what came', () => {
  const NAME = 'Expected operationName to name an operation of the document, got none or another.';
  const two = 'query A { __typename } query B { __typename }';
  test.each<[what: string, body: string, serviceMessage: string]>([
    ['no query', '{}', 'Expected a query, got none.'],
    ['no JSON', '{', 'Expected a body of JSON, got something else.'],
    ['no object', '"x"', 'Expected a body that is a JSON object, got string.'],
    ['a batch', '[{"query":"{ __typename }"}]', 'Expected one operation, got a list.'],
    ['an operation that is not named', JSON.stringify({ query: two }), NAME],
    ['a name of no operation, which is empty', JSON.stringify({ query: two, operationName: '' }), NAME],
    [
      'a name that is none',
      JSON.stringify({ query: two, operationName: 5 }),
      'Expected "operationName" param to be empty or a string, but given number.',
    ],
    ['a name of no operation', JSON.stringify({ query: two, operationName: 'C' }), NAME],
    [
      'a parameter that there is not',
      '{"query":"{ __typename }","document\\n":1}',
      'Expected query, operationName, variables or extensions, got "document\n".',
    ],
    ['more than it reads', ' '.repeat(8 * 1024 * 1024 + 1), 'Expected a body of at most 8 MB, got more.'],
  ])('%s', async (_what, body, serviceMessage) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const reply = await gateway.post(body);
    expect(reply.errors?.map(({ message }) => message)).toEqual([serviceMessage]);
    expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
    expect(reply.extensions.upstream).toEqual(nothingSpent);
  });

  test('a long name of a parameter is cut', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const reply = await gateway.post(JSON.stringify({ ['x'.repeat(1000)]: 1 }));
    expect(reply.errors?.[0]?.message).toBe(
      `Expected query, operationName, variables or extensions, got "${'x'.repeat(80)}".`,
    );
  });

  test.each<[method: string, search: string, serviceMessage: string]>([
    ['GET', '', 'Expected a query, got none.'],
    [
      'GET',
      'mutation { deleteWebhook(input: { webhookId: "12345678-1234-1234-1234-123456789012" }) { __typename } }',
      'Expected a mutation by POST, got one by GET.',
    ],
    ['PUT', '', 'Expected GET or POST, got another method.'],
  ])('%s of "%s"', async (method, query, serviceMessage) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const response = await fetch(`${gateway.url}/graphql?${new URLSearchParams({ query })}`, { method });
    expect(await response.json()).toMatchObject({ errors: [{ message: serviceMessage }] });
  });

  test.each(TRANSPORTS)('an empty name names the only operation, over %s', async (_transport, send) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const answer = await send(gateway.url, { query: '{ __typename }', operationName: '' });
    expect(answer).toMatchObject({ data: { __typename: 'Query' } });
  });

  test.each(TRANSPORTS)('an operation that is not named, over %s', async (_transport, send) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    expect(await send(gateway.url, { query: two })).toMatchObject({ errors: [{ message: NAME }] });
  });
});

test('an invalid tag gets the rule that it broke', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  for (const tag of ['1st', 'x'.repeat(65), 'main net']) {
    const reply = await gateway.query(
      'query ($a: Address!, $tags: [String!]) { wallet(address: $a) { transactions(chainTags: $tags) { nodes { hash } } } }',
      { a: addressOf(1), tags: [tag] },
    );
    expect(new Set(reply.errors?.map(({ message }) => message))).toEqual(
      new Set([
        `Expected chainTags of a letter and at most 63 letters, digits, - and _, got ${JSON.stringify(tag)}.`,
      ]),
    );
  }
});

test('every answer carries extensions.upstream', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const reply = await gateway.query('{ __typename }');
  expect(reply.data).toEqual({ __typename: 'Query' });
  expect(reply.extensions.upstream).toEqual(nothingSpent);
});
