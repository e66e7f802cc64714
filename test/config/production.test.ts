import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../support/clients/transports.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';

/** In production no client can ask for the schema: not as a whole, and not name by name. */

let production: Gateway;
let development: Gateway;
beforeAll(async () => {
  production = await startGateway({ UPSTREAM_URL: nowhere, NODE_ENV: 'production' });
  development = await startGateway({ UPSTREAM_URL: nowhere });
});
afterAll(async () => {
  await production[Symbol.asyncDispose]();
  await development[Symbol.asyncDispose]();
});

test('there is no GraphiQL', async () => {
  const page = { headers: { accept: 'text/html' } };
  expect((await fetch(`${development.url}/graphql`, page)).headers.get('content-type')).toBe('text/html');
  const refused = await fetch(`${production.url}/graphql`, page);
  expect(refused.status).toBe(406);
  expect(await refused.text()).toBe('');
});

describe.each(TRANSPORTS)('over %s', (_transport, send) => {
  test.each(['{ __schema { types { name } } }', '{ __type(name: "Query") { name } }'])(
    'introspection is refused: %s',
    async (query) => {
      expect((await send(development.url, { query })).errors).toBeUndefined();
      const refused = await send(production.url, { query });
      expect(new Set(codesOf(refused))).toEqual(new Set(['GRAPHQL_VALIDATION_FAILED']));
      expect(refused.data).toBeUndefined();
    },
  );

  test('__typename is no introspection', async () => {
    expect(await send(production.url, { query: '{ __typename }' })).toMatchObject({
      data: { __typename: 'Query' },
    });
  });

  const input = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { __typename } }';
  test.each<[what: string, payload: Record<string, unknown>]>([
    ['a field', { query: '{ walet(address: "0x") { id } }' }],
    ['an argument', { query: '{ wallet(adress: "0x") { id } }' }],
    ['a type', { query: '{ ... on Qery { __typename } }' }],
    ['a literal', { query: '{ deliveries(filter: { typs: [] }) { head } }' }],
    ['a literal of an enum', { query: '{ deliveries(filter: { types: [TRANSACTION] }) { head } }' }],
    ['a variable', { query: input, variables: { input: { nam: 'x' } } }],
    [
      'a variable of an enum',
      {
        query: 'query ($types: [WebhookType!]) { deliveries(filter: { types: $types }) { head } }',
        variables: { types: ['TRANSACTION'] },
      },
    ],
  ])('a name that is nearly right is not mended: %s', async (_what, payload) => {
    expect(JSON.stringify(await send(development.url, payload))).toMatch(/did you mean/i);
    const refused = await send(production.url, payload);
    expect(refused.errors).not.toEqual([]);
    expect(JSON.stringify(refused)).not.toMatch(/did you mean/i);
  });
});
