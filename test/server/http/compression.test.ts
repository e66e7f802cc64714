import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeEncoded, postEncoded } from '../../support/clients/encoded.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

const WALLET = addressOf(0xc0de);
const QUERY = `query Page($first: Int) { wallet(address: "${WALLET}") { transactions(first: $first) { nodes { id hash from to } } } }`;
const LARGE = { query: QUERY, variables: { first: 100 } };
/** Below 16 KB. */
const SHORT = { query: QUERY, variables: { first: 10 } };
const SMALL = { query: QUERY, variables: { first: 1 } };

let fake: FakeWallets;
beforeAll(async () => {
  fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(history(1000)));
});
afterAll(() => fake[Symbol.asyncDispose]());

const accepting = (coding: string) => ({ 'accept-encoding': coding });

/** What is the same in every answer: not how the page was got. */
const dataOf = (text: string): unknown => JSON.parse(text).data;

describe.each(['fast', 'plain'] as const)('on the read path %s', (readPath) => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ UPSTREAM_URL: fake.url }, { readPath });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each([
    ['zstd', 'zstd'],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['x-unknown, gzip', 'gzip'],
    [`${'x, '.repeat(338)}gzip, br`, 'br'],
    ['GZip', 'gzip'],
    // As browsers and undici send it.
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip;q=1.0, br;q=0.5, zstd;q=0', 'gzip'],
    ['br;q=0.2, gzip;q=0.1, identity;q=0.05', 'br'],
    ['*', 'zstd'],
    ['zstd;q=0, *', 'br'],
  ])('an answer to a client that accepts %s comes as %s', async (accepted, coding) => {
    const plain = await postEncoded(gateway.url, LARGE);
    const encoded = await postEncoded(gateway.url, LARGE, accepting(accepted));
    expect(encoded.headers['content-encoding']).toBe(coding);
    expect(encoded.headers.vary).toBe('Accept-Encoding, Origin');
    expect(encoded.headers['content-length']).toBe(String(encoded.bytes));
    expect(encoded.bytes).toBeLessThan(plain.bytes / 3);
    expect(encoded.status).toBe(200);
    expect(dataOf(encoded.text)).toEqual(dataOf(plain.text));
  });

  test.each([
    ['zstd', 'zstd'],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
  ])('a short answer to a client that accepts %s comes as %s', async (accepted, coding) => {
    const plain = await postEncoded(gateway.url, SHORT);
    expect(plain.bytes).toBeGreaterThan(1024);
    const encoded = await postEncoded(gateway.url, SHORT, accepting(accepted));
    expect(encoded.headers['content-encoding']).toBe(coding);
    expect(encoded.headers['content-length']).toBe(String(encoded.bytes));
    expect(encoded.bytes).toBeLessThan(plain.bytes / 3);
    expect(dataOf(encoded.text)).toEqual(dataOf(plain.text));
  });

  test.each([
    ['none', ''],
    ['an unknown one', 'deflate, compress, x'],
    ['each with weight 0', 'gzip;q=0, br;q=0, zstd;q=0'],
    ['rather none', 'gzip;q=0.5, identity'],
    ['none at all', 'identity;q=0'],
    ['none at all, by a wildcard', '*;q=0'],
    ['no coding in this text', ';;, =, "gzip", gzip=1 x'],
    ['more than 1,024 characters', `${'x, '.repeat(340)}gzip, zstd`],
  ])('an answer to a client that accepts %s comes as it is', async (_what, accepted) => {
    const answer = await postEncoded(gateway.url, LARGE, accepting(accepted));
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer.headers.vary).toBe('Accept-Encoding, Origin');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).errors).toBeUndefined();
  });

  test('a small answer, and a rejection, come as they are', async () => {
    const bodies = [SMALL, { query: `{ ${'nothing '.repeat(200)} }` }, { query: '{' }];
    for (const body of bodies) {
      const answer = await postEncoded(gateway.url, body, accepting('zstd'));
      expect(answer.headers).not.toHaveProperty('content-encoding');
      expect(answer.headers.vary).toBe('Accept-Encoding, Origin');
    }
  });

  test('an answer to a GET is compressed, and so is one of the other media type', async () => {
    const url = `${gateway.url}/graphql?query=${encodeURIComponent(QUERY)}&variables={"first":100}`;
    const byGet = await exchangeEncoded(url, 'GET', accepting('br'));
    expect(byGet.headers['content-encoding']).toBe('br');
    expect(byGet.headers['cache-control']).toBe('no-store');
    const headers = { ...accepting('gzip'), accept: 'application/graphql-response+json' };
    const byPost = await postEncoded(gateway.url, LARGE, headers);
    expect(byPost.headers).toMatchObject({ 'content-encoding': 'gzip' });
    expect(byPost.headers['content-type']).toMatch(/^application\/graphql-response\+json/);
    expect(dataOf(byPost.text)).toEqual(dataOf(byGet.text));
  });

  test('an event stream comes as it is, also that of a query', async () => {
    const headers = { ...accepting('gzip, br, zstd'), accept: 'text/event-stream' };
    const answer = await postEncoded(gateway.url, LARGE, headers);
    expect(answer.headers['content-encoding'] ?? 'none').toBe('none');
    expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
    expect(answer.text).toContain('event: complete');
  });

  test('concurrent and pipelined answers each are whole', async () => {
    const codings = ['zstd', 'br', 'gzip', 'identity'];
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, number) => {
        const first = 10 + number;
        const headers = accepting(codings[number % codings.length] ?? '');
        const { text } = await postEncoded(gateway.url, { query: QUERY, variables: { first } }, headers);
        return JSON.parse(text).data.wallet.transactions.nodes.length - first;
      }),
    );
    expect(new Set(answers)).toEqual(new Set([0]));
  });
});

test('with COMPRESSION=off answers come as they are, and do not vary', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, COMPRESSION: 'off' });
  const byGet = `${gateway.url}/graphql?query=${encodeURIComponent(QUERY)}&variables={"first":100}`;
  for (const answer of [
    await postEncoded(gateway.url, LARGE, accepting('zstd, br, gzip')),
    await exchangeEncoded(byGet, 'GET', accepting('zstd, br, gzip')),
  ]) {
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer.headers.vary).toBe('Origin');
    expect(JSON.parse(answer.text).data.wallet.transactions.nodes).toHaveLength(100);
  }
});

test('a page of another origin sees what its answer varies by', async () => {
  const origin = 'https://app.example';
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ALLOWED_ORIGINS: origin });
  const answer = await postEncoded(gateway.url, LARGE, { ...accepting('gzip'), origin });
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'content-encoding': 'gzip',
    vary: 'Accept-Encoding, Origin',
  });
  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_http_requests_total', { route: 'graphql', status: '2xx' })).toBe(1);
});

test('an answer with a secret comes as it is, and so does that of a mutation', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const id = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';
  const wallet = `wallet(address: "${WALLET}") { transactions(first: 250) { nodes { hash } } }`;
  const changes = Array.from({ length: 30 }, (_, number) => {
    const alias = `${'long'.repeat(10)}${number}`;
    return `${alias}: deleteWebhook(input: { webhookId: "${id}" }) { __typename }`;
  });
  const codingOf = async (query: string) => {
    const answer = await postEncoded(gateway.url, { query }, accepting('zstd, br, gzip'));
    expect(answer.text.length).toBeGreaterThan(1024);
    // It was executed: a document that is refused comes as it is, whatever it selects.
    expect(answer.text).not.toContain('GRAPHQL_VALIDATION_FAILED');
    return answer.headers['content-encoding'];
  };
  expect(await codingOf(`{ ${wallet} }`)).toBe('zstd');
  expect(await codingOf(`{ ${wallet} webhook(webhookId: "${id}") { name } }`)).toBe('zstd');
  for (const query of [
    `{ ${wallet} deliveryUrl }`,
    `{ ${wallet} ...Url } fragment Url on Query { renamed: deliveryUrl }`,
    `{ ${wallet} webhook(webhookId: "${id}") { url } }`,
    `{ ${wallet} webhooks { nodes { ... on Webhook { name url } } } }`,
    `mutation { ${changes.join(' ')} }`,
  ])
    expect(await codingOf(query), query).toBeUndefined();
});
