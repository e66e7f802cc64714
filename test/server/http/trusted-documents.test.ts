import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config.ts';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { folderOf } from '../../support/folder.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { idOf, trustedFile } from '../../support/gateway/trusted.ts';

const TYPENAME = 'query Name { __typename }';
const HEAD = 'query Head($first: Int) { deliveries(first: $first) { head } }';
const NEWS = 'subscription News { deliveries { cursor } }';

const listOf = (...documents: string[]) => trustedFile(documents);

describe('with TRUSTED_DOCUMENTS', () => {
  let folder: Awaited<ReturnType<typeof folderOf>>;
  let gateway: Gateway;
  beforeAll(async () => {
    folder = await folderOf({ 'trusted.json': listOf(TYPENAME, HEAD, NEWS) });
    gateway = await startGateway({ UPSTREAM_URL: nowhere, TRUSTED_DOCUMENTS: folder.path('trusted.json') });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const persisted = (hash: string) => ({ persistedQuery: { version: 1, sha256Hash: hash } });

  const welcome: [what: string, payload: Record<string, unknown>][] = [
    ['by documentId', { documentId: idOf(TYPENAME) }],
    ['by documentId, as GraphQL over HTTP writes it', { documentId: `sha256:${idOf(TYPENAME)}` }],
    ['by the hash that Apollo clients send', { extensions: persisted(idOf(TYPENAME)) }],
    ['with its own text beside', { query: TYPENAME, extensions: persisted(idOf(TYPENAME)) }],
    ['with its name and no variables', { documentId: idOf(TYPENAME), operationName: 'Name', variables: {} }],
  ];
  const refused: [what: string, payload: Record<string, unknown>, code: string][] = [
    ['a text', { query: '{ __typename }' }, 'FORBIDDEN'],
    ["a trusted document's text without its name", { query: TYPENAME }, 'FORBIDDEN'],
    ['another text under its name', { query: '{ __typename }', documentId: idOf(TYPENAME) }, 'FORBIDDEN'],
    ['an unknown hash', { documentId: idOf('{ __typename }') }, 'FORBIDDEN'],
    ['a name from the prototype', { documentId: 'constructor' }, 'FORBIDDEN'],
    ['no name at all', { variables: {} }, 'BAD_USER_INPUT'],
    ['a name that is no string', { documentId: [idOf(TYPENAME)] }, 'BAD_USER_INPUT'],
    ['wrong variables', { documentId: idOf(HEAD), variables: { first: 'x' } }, 'BAD_USER_INPUT'],
  ];

  for (const [transport, send] of TRANSPORTS) {
    // Over WebSocket the protocol insists on a text.
    const text = transport === 'WebSocket' ? { query: '' } : {};

    test.each(welcome)(`a trusted document runs %s, over ${transport}`, async (_what, payload) => {
      expect(await send(gateway.url, { ...text, ...payload })).toMatchObject({
        data: { __typename: 'Query' },
      });
    });

    test.each(refused)(`nothing runs for %s, over ${transport}`, async (_what, payload, code) => {
      const reply = await send(gateway.url, { ...text, ...payload });
      expect(codesOf(reply)).toEqual([code]);
      expect(reply.data).toBeUndefined();
    });
  }

  test.each([
    `documentId=${idOf(TYPENAME)}`,
    `extensions=${encodeURIComponent(JSON.stringify(persisted(idOf(TYPENAME))))}`,
    `documentId=${idOf(TYPENAME)}&operationName=Name&variables=%7B%7D`,
  ])('GET ?%s runs', async (search) => {
    const response = await fetch(`${gateway.url}/graphql?${search}`);
    expect(await response.json()).toMatchObject({ data: { __typename: 'Query' } });
  });

  test('an EventSource subscribes by its url alone', async () => {
    const headers = { accept: 'text/event-stream', 'sec-fetch-site': 'same-origin' };
    const stream = await fetch(`${gateway.url}/graphql?documentId=${idOf(NEWS)}`, { headers });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    await stream.body?.cancel();
  });

  test('a refusal has its status where the client takes one for an answer', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      body: JSON.stringify({ query: '{ __typename }' }),
    });
    expect(response.status).toBe(403);
  });

  test('there is no GraphiQL, and no name is mended', async () => {
    expect((await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } })).status).toBe(406);
  });
});

describe('an invalid file ends the start, which names each problem', () => {
  const introspection = '{ __type(name: "Query") { name } }';
  const unknown = '{ nothing everything }';
  test.each<[what: string, content: string, problems: RegExp[]]>([
    ['no JSON', '{', [/TRUSTED_DOCUMENTS: expected a JSON object/]],
    ['a list', '[]', [/TRUSTED_DOCUMENTS: expected a JSON object/]],
    ['documents that are no texts', '{"a":1}', [/TRUSTED_DOCUMENTS: expected a JSON object/]],
    [
      'a wrong hash',
      JSON.stringify({ abc: TYPENAME }),
      [new RegExp(`TRUSTED_DOCUMENTS: abc: .*${idOf(TYPENAME)}`)],
    ],
    ['no GraphQL', listOf('{'), [new RegExp(`${idOf('{')}: Syntax Error`)]],
    [
      'fields that are not there, of two documents',
      listOf(unknown, '{ other }'),
      [/: Cannot query field "nothing"/, /: Cannot query field "everything"/, /: Cannot query field "other"/],
    ],
    [
      'introspection, which would be refused',
      listOf(introspection),
      [new RegExp(`${idOf(introspection)}: .*introspection`)],
    ],
    [
      'what is beyond a limit',
      listOf(`{${' __typename'.repeat(31)} }`),
      [/: Expected an operation of at most 30 root fields/],
    ],
  ])('%s', async (_what, content, problems) => {
    await using folder = await folderOf({ 'trusted.json': content });
    const start = startGateway({ UPSTREAM_URL: nowhere, TRUSTED_DOCUMENTS: folder.path('trusted.json') });
    const error = await start.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ConfigError);
    const reported = (error as ConfigError).problems;
    for (const problem of problems) expect(reported.filter((each) => problem.test(each))).toHaveLength(1);
  });

  test('no file', async () => {
    const start = startGateway({ UPSTREAM_URL: nowhere, TRUSTED_DOCUMENTS: '/nowhere/trusted.json' });
    await expect(start).rejects.toThrow(/TRUSTED_DOCUMENTS: .*\/nowhere\/trusted\.json/);
  });
});
