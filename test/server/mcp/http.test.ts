import { once } from 'node:events';
import { type IncomingMessage, request as requestOf } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectAgent } from '../../support/clients/agent.ts';
import { exchange } from '../../support/clients/raw-exchange.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { codesOf, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { startTrusting, type Trusting } from '../../support/gateway/trusted.ts';
import { startBlockingService } from '../../support/upstream/blocking-service.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** What `/mcp` says to requests that no client library sends, and to clients that leave. */

const NAME = 'query Name { __typename }';
const WALLET =
  'query Wallet($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }';

const HEADERS = { 'content-type': 'application/json' };

const send = async (
  { url }: { readonly url: string },
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
) => {
  const response = await fetch(`${url}/mcp`, {
    method,
    headers: { ...HEADERS, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const { error, result } = text === '' ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, error, result };
};

const call = (name: string, variables: object = {}, id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: variables },
});

/** A POST whose Accept is exactly this one: `fetch` would add its own. */
const post = async (url: string, body: object, headers: Readonly<Record<string, string>>) => {
  const request = requestOf(`${url}/mcp`, { method: 'POST', headers });
  request.end(JSON.stringify(body));
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new TypeError('expected a response');
  return {
    status: response.statusCode,
    type: response.headers['content-type'],
    text: await textOf(response),
  };
};

/** A call in the words of 2025. */
const legacy = { body: call('Name'), headers: { 'content-type': 'application/json' } };

/** The same one in those of 2026-07-28. */
const modern = {
  body: {
    ...call('Name'),
    params: {
      ...call('Name').params,
      _meta: {
        [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
        [CLIENT_INFO_META_KEY]: { name: 'test', version: '1' },
        [CLIENT_CAPABILITIES_META_KEY]: {},
      },
    },
  },
  headers: {
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'Name',
  },
};

describe('a request that is wrong', () => {
  let gateway: Trusting;
  beforeAll(async () => {
    gateway = await startTrusting([NAME, WALLET], {
      UPSTREAM_URL: nowhere,
      MCP: 'on',
      ALLOWED_ORIGINS: 'https://agents.example.com',
    });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each(['GET', 'DELETE', 'PUT'])('%s is 405, and says that there are no sessions', async (method) => {
    const { status, headers, error } = await send(gateway, undefined, {}, method);
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    expect(error.message).toContain('no sessions');
  });

  test.each<
    [
      what: string,
      body: unknown,
      headers: Record<string, string>,
      status: number,
      code: number,
      message: RegExp,
    ]
  >([
    ['no JSON', '{', {}, 400, -32_700, /^Expected a body of JSON/],
    ['nothing', '', {}, 400, -32_700, /^Expected a body of JSON/],
    ['a batch', [call('Name'), call('Name')], {}, 400, -32_600, /^Expected one JSON-RPC message, got a list/],
    ['an empty batch', [], {}, 400, -32_600, /got a list/],
    ['null', 'null', {}, 400, -32_600, /./],
    ['a number', '1', {}, 400, -32_600, /./],
    ['a message without a method', { jsonrpc: '2.0', id: 1 }, {}, 400, -32_600, /./],
    ['another version of JSON-RPC', { ...call('Name'), jsonrpc: '1.0' }, {}, 400, -32_600, /./],
    ['an id that is an object', call('Name', {}, {}), {}, 400, -32_600, /./],
    [
      'a subscription',
      { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
      {},
      400,
      -32_601,
      /no notifications|sends no/,
    ],
    [
      'a revision that does not exist',
      call('Name'),
      { 'mcp-protocol-version': '1999-01-01' },
      400,
      -32_000,
      /1999-01-01/,
    ],
    [
      'a form',
      'a=b',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      -32_000,
      /application\/json/,
    ],
    [
      'a text',
      JSON.stringify(call('Name')),
      { 'content-type': 'text/plain' },
      415,
      -32_000,
      /application\/json/,
    ],
    ['a compressed body', 'x', { 'content-encoding': 'gzip' }, 415, -32_000, /not compressed/],
    ['a foreign page', call('Name'), { origin: 'https://evil.example.com' }, 403, -32_000, /ALLOWED_ORIGINS/],
    [
      'a page of another site',
      call('Name'),
      { 'sec-fetch-site': 'cross-site' },
      403,
      -32_000,
      /ALLOWED_ORIGINS/,
    ],
    ['more than 8 MB', JSON.stringify(call('Name', { a: 'x'.repeat(9_000_000) })), {}, 413, -32_000, /8 MB/],
    [
      'too many values',
      JSON.stringify(call('Name', { a: Array(300_000).fill(1) })),
      {},
      413,
      -32_000,
      /250000 JSON values/,
    ],
  ])('%s', async (_what, body, headers, status, code, message) => {
    const answer = await send(gateway, body, headers);
    expect([answer.status, answer.error?.code]).toEqual([status, code]);
    expect(answer.error.message).toMatch(message);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

  test.each<[what: string, body: object, code: number]>([
    ['a method that does not exist', { jsonrpc: '2.0', id: 1, method: 'resources/list' }, -32_601],
    ['no name of a tool', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, -32_602],
    ['a name that is no text', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 3 } }, -32_602],
    [
      'arguments that are a list',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'Name', arguments: [1] } },
      -32_602,
    ],
  ])('%s is an error of its message', async (_what, body, code) => {
    const { status, error } = await send(gateway, body);
    expect([status, error?.code]).toEqual([200, code]);
  });

  test('of another host is 403, as everywhere on loopback', async () => {
    const body = JSON.stringify(call('Name'));
    const lines = ['POST /mcp HTTP/1.1', 'host: rebound.example.com', 'content-type: application/json'];
    const [answer] = await exchange(gateway.url, [
      [...lines, `content-length: ${body.length}`, '', body].join('\r\n'),
    ]);
    expect(answer?.status).toContain('403');
    expect(answer?.body).toContain('rebound.example.com');
  });

  test('a page of an allowed origin asks first, and reads the answer', async () => {
    const origin = 'https://agents.example.com';
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'mcp-protocol-version',
    };
    const preflight = await send(gateway, undefined, { origin, ...asked }, 'OPTIONS');
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('mcp-protocol-version');
    const { status, headers, result } = await send(gateway, call('Name'), { origin });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(JSON.parse(result.content[0].text).data).toEqual({ __typename: 'Query' });
    expect(
      (await send(gateway, undefined, { origin: 'https://evil.example.com', ...asked }, 'OPTIONS')).status,
    ).toBe(403);
  });

  test.each([
    ...['*/*', 'application/*', 'application/json', 'application/json, text/event-stream'],
    ...['text/event-stream, application/json', 'Application/JSON', 'application/json;charset=utf-8'],
    ...['text/html, */*;q=0.1', 'text/*;q=0.9, application/*; q=0.5', 'application/json;q=0.001', '', null],
    ...['text/html;q=0, */*', '*/*;q=0, application/json', ', ,*/*', `${'text/html,'.repeat(1_000)}*/*`],
  ])('a client with Accept: %s is answered in JSON, by each revision', async (accept) => {
    for (const { body, headers } of [legacy, modern]) {
      const answer = await post(gateway.url, body, accept === null ? headers : { ...headers, accept });
      expect(answer).toMatchObject({ status: 200, type: 'application/json' });
      expect(JSON.parse(JSON.parse(answer.text).result.content[0].text).data).toEqual({
        __typename: 'Query',
      });
    }
  });

  test.each([
    ...['text/html', 'text/event-stream', 'text/*, image/png', 'application/xml', 'application/json;q=0'],
    ...['*/*;q=0', '*/*, application/json;q=0', 'application/*;q=0.0, */*', 'application', 'json'],
  ])('a client with Accept: %s reads no JSON: 406, by each revision', async (accept) => {
    for (const { body, headers } of [legacy, modern]) {
      const answer = await post(gateway.url, body, { ...headers, accept });
      expect(answer).toMatchObject({ status: 406, type: 'application/json' });
      const { error } = JSON.parse(answer.text);
      expect(error).toMatchObject({ code: -32_000, data: { code: 'BAD_USER_INPUT' } });
      expect(error.message).toBe(
        `Expected an Accept with application/json, got ${accept.replaceAll(', ', ',')}.`,
      );
    }
  });

  test('a notification is taken, and not answered', async () => {
    const { status, text } = await send(gateway, { jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([status, text]).toEqual([202, '']);
  });
});

describe('credentials are judged before a message is read', () => {
  test('AUTH=jwt: without a token, and with a wrong one', async () => {
    await using gateway = await startTrusting([NAME], { UPSTREAM_URL: nowhere, MCP: 'on', ...byToken });
    const without = await send(gateway, '{ not JSON');
    expect([without.status, without.error.data.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(without.headers.get('www-authenticate')).toBe('Bearer realm="gateway"');
    const wrong = await send(gateway, call('Name'), bearer('a.b.c'));
    expect([wrong.status, wrong.error.data.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(wrong.headers.get('www-authenticate')).toContain('invalid_token');
    await expect(connectAgent(gateway)).rejects.toThrow();
    await using agent = await connectAgent(gateway, { headers: bearer(await tokenOf()) });
    expect(await agent.call('Name')).toMatchObject({ data: { __typename: 'Query' } });
  });

  test('AUTH=key: without a key', async () => {
    await using gateway = await startTrusting([NAME], {
      UPSTREAM_URL: nowhere,
      UPSTREAM_API_KEY: '',
      AUTH: 'key',
      MCP: 'on',
    });
    const { status, error } = await send(gateway, call('Name'));
    expect([status, error.data.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(error.message).toContain('X-Service-Api-Key');
    expect((await send(gateway, call('Name'), { 'x-service-api-key': 'mine' })).status).toBe(200);
  });
});

test('where MCP is off, nothing is there', async () => {
  await using gateway = await startTrusting([NAME], { UPSTREAM_URL: nowhere });
  expect((await send(gateway, call('Name'))).status).toBe(404);
  await using open = await startGateway({ UPSTREAM_URL: nowhere });
  expect((await send(open, call('Name'))).status).toBe(404);
});

test('a client that leaves aborts what it has asked for', async () => {
  await using fake = await startFakeWallets();
  await using gateway = await startTrusting([WALLET], { UPSTREAM_URL: fake.url, MCP: 'on' });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ silent: true }));
  const leaving = new AbortController();
  const left = fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(call('Wallet', { address })),
    signal: leaving.signal,
  });
  await eventually(() => fake.requests.length === 1);
  leaving.abort();
  await expect(left).rejects.toThrow();
  await eventually(() => fake.requests[0]?.abandoned === true);
  expect((await send(gateway, call('Name'))).status).toBe(200);
  expect(gateway.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

const RENAME = 'mutation Rename($input: UpdateWebhookInput!) { updateWebhook(input: $input) { __typename } }';
const INPUT = { webhookId: '0193f0a0-0000-7000-8000-000000000001', name: 'new' };

describe('a shutdown', () => {
  const start = async (service: { readonly url: string }) =>
    startTrusting([RENAME], { UPSTREAM_URL: service.url, MCP: 'Rename' });

  test('lets a call that runs finish', async () => {
    await using service = await startBlockingService();
    await using gateway = await start(service);
    const answer = send(gateway, call('Rename', { input: INPUT }));
    await service.asked(1);
    const stopped = gateway.stop();
    service.answerAll();
    expect((await answer).text).toContain('UpdateWebhookPayload');
    await stopped;
  });

  test.each(['legacy', 'auto'] as const)(
    'says of a call that upstream does not answer in time that it may still be carried out, to a client of %s',
    async (mode) => {
      await using service = await startBlockingService();
      await using gateway = await start(service);
      await using agent = await connectAgent(gateway, { mode });
      const answer = agent.call('Rename', { input: INPUT });
      await service.asked(1);
      await gateway.stop();
      const { isError, errors } = await answer;
      expect([isError, codesOf({ errors })]).toEqual([true, ['UPSTREAM_TIMEOUT']]);
      expect(errors?.[0]?.message).toContain('may still carry out');
    },
  );
});
