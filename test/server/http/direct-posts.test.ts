import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, type RawResponse } from '../../support/clients/raw-exchange.ts';
import { attack } from '../../support/clients/raw-http.ts';
import { folderOf } from '../../support/folder.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { runs } from '../../support/runs.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { type FakeService, startFakeService } from '../../support/upstream/fake-service.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';
import { BODIES, HEADS, MUTATION, NAME, post, query, TWO, WALLET } from './odd-requests.ts';

/** It refuses every request in the same way, at once. */
let service: FakeService;
beforeAll(async () => {
  service = await startFakeService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** The same gateway twice: one answers ordinary POSTs directly, the other has Yoga answer all requests. */
type Pair = readonly [direct: Gateway, byYoga: Gateway];

const startPair = async (env: Record<string, string | undefined> = {}): Promise<Pair> => [
  await startGateway({ UPSTREAM_URL: service.url, ...env }, { readPath: 'fast' }),
  await startGateway({ UPSTREAM_URL: service.url, ...env }, { readPath: 'plain' }),
];

const stopPair = async (pair: Pair | undefined): Promise<void> => {
  for (const gateway of pair ?? []) await gateway[Symbol.asyncDispose]();
};

const ID = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;

/** Without what differs from answer to answer: the time, what is left until another, and the ids of requests. */
const timeless = ({ status, headers, body }: RawResponse): RawResponse => ({
  status,
  headers: headers
    .filter((header) => !header.startsWith('Date:'))
    .map((header) => header.replace(ID, 'an id')),
  body: body.replace(ID, 'an id').replace(/"retryAfterMs":\d+/g, '"retryAfterMs":0'),
});

/** The answers to the same bytes of both gateways. They are sent twice: the second time their document is known. */
const answersOf = async (pair: Pair, parts: readonly (string | Buffer)[], count = 1) => {
  const [direct = [], byYoga = []] = await Promise.all(
    pair.map(async ({ url }) => {
      const first = await exchange(url, parts, count);
      return [...first, ...(await exchange(url, parts, count))].map(timeless);
    }),
  );
  return { direct, byYoga };
};

const expectSame = async (pair: Pair, parts: readonly (string | Buffer)[], count = 1) => {
  const { direct, byYoga } = await answersOf(pair, parts, count);
  expect(byYoga).toHaveLength(2 * count);
  expect(direct).toEqual(byYoga);
  return direct;
};

describe('a POST that is answered directly gets the same bytes as from Yoga', () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await startPair({ ALLOWED_ORIGINS: 'https://app.example' });
  });
  afterAll(() => stopPair(pair));

  test.each(BODIES)('with a body: %s', async (_what, body) => {
    await expectSame(pair, post(body));
    await expectSame(pair, post(body, { accept: 'application/graphql-response+json' }));
  });

  test.each(HEADS.map(([what, headers, line]) => [what, headers, line] as const))(
    'with a head: %s',
    async (_what, headers, line) => {
      await expectSame(pair, post(query(NAME), headers, line));
      await expectSame(pair, post(query('{ nothing }'), headers, line));
      await expectSame(pair, post(query(WALLET), headers, line));
    },
  );

  test('in chunks, and with a body in pieces', async () => {
    const body = query(NAME);
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    await expectSame(pair, [...post(chunked, { 'content-length': null, 'transfer-encoding': 'chunked' })]);
    const [head = '', whole = ''] = post(query(NAME, { variables: { x: 'é'.repeat(20_000) } }));
    const bytes = Buffer.from(whole);
    await expectSame(pair, [head, bytes.subarray(0, 10), bytes.subarray(10, 30_001), bytes.subarray(30_001)]);
  });

  test.each([1, 2, 7, 1000])('with a small body in pieces of %i bytes', async (size) => {
    const [head = '', body = ''] = post(query(NAME, { variables: { x: 'é' } }));
    const bytes = Buffer.from(body);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const answers = await expectSame(pair, [head, ...pieces]);
    expect(answers.map(({ status }) => status)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
  });

  test('pipelined, with others in between', async () => {
    const [direct] = [post(query(NAME)), post('{'), post(query(WALLET, { variables: { a: addressOf(2) } }))];
    await expectSame(
      pair,
      [...direct, ...post('{'), ...post(query(TWO, { operationName: 'B' })), ...direct],
      4,
    );
  });

  test('for random heads and bodies', async () => {
    // A subscription is answered without end where a head accepts an event stream.
    const bodies = BODIES.slice(0, -4).filter(([what]) => what !== 'a subscription');
    const body = fc.oneof(
      fc.constantFrom(...bodies.map(([, one]) => one)),
      fc
        .record(
          {
            query: fc.oneof(fc.constantFrom(NAME, TWO, WALLET, MUTATION), fc.anything()),
            operationName: fc.oneof(fc.constantFrom('A', 'B'), fc.anything()),
            variables: fc.oneof(fc.record({ a: fc.constantFrom(addressOf(1), 'x', 5, null) }), fc.anything()),
            extensions: fc.oneof(fc.constant({}), fc.anything()),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
      fc.json(),
    );
    const heads = fc.subarray(
      HEADS.map(([, headers]) => headers).filter(
        ({ expect, upgrade, host }) => !expect && !upgrade && host === undefined,
      ),
      { maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(heads, body, async (headers, text) => {
        await expectSame(pair, post(text, Object.assign({}, ...headers)));
      }),
      { numRuns: runs(150) },
    );
  });

  test('where the client disconnects before its body is whole', async () => {
    for (const { url } of pair) {
      const [head = ''] = post(query(NAME));
      await attack(url, (socket) => {
        socket.write(`${head}{`, () => setTimeout(() => socket.destroy(), 50));
      });
    }
  });

  test('and both count and log them alike', async () => {
    const [direct, byYoga] = await Promise.all(
      pair.map(async (gateway) => {
        let scraped = await scrape(gateway.url);
        // A scrape is under way itself.
        while (scraped.sum('gateway_http_requests_in_flight') > 1) scraped = await scrape(gateway.url);
        const counts = [...scraped.series].filter(([name]) =>
          /^gateway_(http_requests_total\{route="graphql"|operations_total)/.test(name),
        );
        const logged = gateway.logLines
          .map((line) => JSON.parse(line))
          .filter(({ msg }) => /^operation/.test(msg))
          .map(({ level, msg, type, transport, codes }) =>
            JSON.stringify([level, msg, type, transport, codes]),
          );
        return { counts: Object.fromEntries(counts), logged: logged.toSorted() };
      }),
    );
    expect(Object.keys(direct?.counts ?? {}).length).toBeGreaterThan(10);
    expect(direct).toEqual(byYoga);
  });
});

const [whole, narrow, expired] = await Promise.all([tokenOf(), tokenOf({ scope: '' }), tokenOf({ exp: 1 })]);

describe('the same holds', () => {
  test.each<[what: string, env: Record<string, string | undefined>, credentials: Record<string, string>[]]>([
    [
      'with keys of clients',
      { AUTH: 'key', UPSTREAM_API_KEY: undefined },
      [{}, { 'x-service-api-key': 'a-key' }, { 'x-service-api-key': 'a key' }, { 'x-service-api-key': '' }],
    ],
    [
      'with tokens',
      byToken,
      [
        {},
        bearer(whole),
        bearer(narrow),
        bearer(expired),
        bearer('x'),
        { authorization: 'Basic eDp5' },
        { authorization: '' },
      ],
    ],
    ['with a budget', { CLIENT_COMPUTE_UNITS_PER_MINUTE: '1' }, [{}]],
    ['in production', { NODE_ENV: 'production' }, [{}]],
  ])('%s', async (_what, env, credentials) => {
    const pair = await startPair(env);
    try {
      for (const headers of credentials)
        for (const body of [
          query(NAME),
          '{',
          query(WALLET, { variables: { a: addressOf(3) } }),
          query('{ nam }'),
        ])
          for (const accept of ['application/json', 'application/graphql-response+json'])
            await expectSame(pair, post(body, { ...headers, accept }));
    } finally {
      await stopPair(pair);
    }
  });

  test('with trusted documents', async () => {
    const hash = createHash('sha256').update(TWO).digest('hex');
    await using folder = await folderOf({ 'trusted.json': JSON.stringify({ [hash]: TWO }) });
    const pair = await startPair({ TRUSTED_DOCUMENTS: folder.path('trusted.json') });
    try {
      for (const body of [
        { documentId: hash, operationName: 'A' },
        { documentId: `sha256:${hash}`, operationName: 'B', extra: 1 },
        { documentId: hash },
        { documentId: [hash] },
        { documentId: 'x', query: TWO },
        { query: TWO, operationName: 'A' },
        { query: TWO, operationName: 'A', extensions: { persistedQuery: { sha256Hash: hash } } },
        { operationName: 'A', variables: {}, extensions: { persistedQuery: { sha256Hash: hash } } },
        {},
      ])
        await expectSame(pair, post(JSON.stringify(body)));
    } finally {
      await stopPair(pair);
    }
  });

  test('for a heavy answer, and for one that exceeds the limit', async () => {
    await using fake = await startFakeWallets();
    fake.transactions.set(addressOf(4), servingTransactions(history(1000)));
    const pair = await startPair({ UPSTREAM_URL: fake.url, MAX_ANSWER_MB: '1', CACHE_MAX_MB: '0' });
    const nodes = 'nodes { id hash blockHash from to value blockTime chain }';
    const transactions = (name: string) => `${name}: transactions(first: 1000) { ${nodes} }`;
    const wallet = (...names: string[]) =>
      query(`{ wallet(address: "${addressOf(4)}") { ${names.map(transactions).join(' ')} } }`);
    try {
      const [answer] = await expectSame(pair, post(wallet('a')));
      expect(answer?.body.length).toBeGreaterThan(256 * 1024);
      const [rejection] = await expectSame(pair, post(wallet('a', 'b', 'c', 'd')));
      expect(rejection?.body).toContain('MAX_ANSWER_MB');
    } finally {
      await stopPair(pair);
    }
  });
});
