import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPersistedQueries } from '../../../src/server/graphql/persisted-queries.ts';
import { expectUnchanged, ifNot, notStored, tagOf } from '../../support/clients/conditional.ts';
import { exchangeEncoded } from '../../support/clients/encoded.ts';
import { overHttp, overWebSocket, TRANSPORTS } from '../../support/clients/transports.ts';
import { byKey, withKey } from '../../support/gateway/keys.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { idOf, startTrusting } from '../../support/gateway/trusted.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** Automatic persisted queries: a hash alone, or a text with its hash. */

const persisted = (hash: string) => ({ persistedQuery: { version: 1, sha256Hash: hash } });
const byHash = (text: string) => ({ extensions: persisted(idOf(text)) });
const withHash = (text: string) => ({ query: text, ...byHash(text) });

/** A document that no other test sends. */
let made = 0;
const newText = () => `query New${made++} { __typename }`;

let fake: FakeWallets;
let gateway: Gateway;
beforeAll(async () => {
  fake = await startFakeWallets();
  gateway = await startGateway({ UPSTREAM_URL: fake.url });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const NOT_FOUND = { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } };

for (const [transport, send] of TRANSPORTS) {
  // Over WebSocket the protocol insists on a text.
  const empty = transport === 'WebSocket' ? { query: '' } : {};

  test(`a hash runs once its text was sent with it, over ${transport}`, async () => {
    const text = newText();
    const alone = { ...empty, ...byHash(text) };
    expect(await send(gateway.url, alone)).toMatchObject({ errors: [NOT_FOUND] });
    expect(await send(gateway.url, withHash(text))).toMatchObject({ data: { __typename: 'Query' } });
    expect(await send(gateway.url, alone)).toMatchObject({ data: { __typename: 'Query' } });
    for (const [, other] of TRANSPORTS)
      expect(await other(gateway.url, { query: '', ...byHash(text) })).toMatchObject({
        data: { __typename: 'Query' },
      });
  });

  test(`a text with another hash does not run, over ${transport}`, async () => {
    const [text, other] = [newText(), newText()];
    expect(await send(gateway.url, { query: text, ...byHash(other) })).toMatchObject({
      errors: [
        {
          message: 'provided sha does not match query',
          extensions: { code: 'PERSISTED_QUERY_HASH_MISMATCH' },
        },
      ],
    });
    for (const one of [text, other])
      expect(await send(gateway.url, { ...empty, ...byHash(one) })).toMatchObject({ errors: [NOT_FOUND] });
  });

  test.each([
    ['that is not valid', '{ nothing }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['without such an operation', 'query A { __typename }', { operationName: 'B' }, 'BAD_USER_INPUT'],
    ['beyond a limit', `{ ${'__typename '.repeat(31)} }`, {}, 'OPERATION_TOO_COMPLEX'],
  ])(`a document %s is not kept, over ${transport}`, async (_what, text, more, code) => {
    const commented = `${text} # ${transport}`;
    expect(await send(gateway.url, { ...withHash(commented), ...more })).toMatchObject({
      errors: [{ extensions: { code } }],
    });
    expect(await send(gateway.url, { ...empty, ...byHash(commented) })).toMatchObject({
      errors: [NOT_FOUND],
    });
  });
}

test('a subscription runs by its hash, too', async () => {
  const text = 'subscription { deliveries { cursor } }';
  const search = new URLSearchParams({ query: text, extensions: JSON.stringify(persisted(idOf(text))) });
  const headers = { accept: 'text/event-stream' };
  for (const query of [search, new URLSearchParams({ extensions: search.get('extensions') ?? '' })]) {
    const response = await fetch(`${gateway.url}/graphql?${query}`, { headers });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await response.body?.cancel();
  }
});

test('a mutation by its hash is refused by GET', async () => {
  const text = 'mutation ($id: UUID!) { deleteWebhook(input: { webhookId: $id }) { __typename } }';
  await gateway.post(JSON.stringify(withHash(text)));
  const extensions = JSON.stringify(persisted(idOf(text)));
  const response = await fetch(`${gateway.url}/graphql?${new URLSearchParams({ extensions })}`);
  expect([response.status, await response.json()]).toMatchObject([
    405,
    { errors: [{ message: 'Expected a mutation by POST, got one by GET.' }] },
  ]);
});

test.each(['application/json', 'application/graphql-response+json'])(
  'an unknown hash is a 200 that no cache keeps, for who accepts %s: clients read no other status',
  async (accept) => {
    const extensions = JSON.stringify(persisted(idOf(newText())));
    const url = `${gateway.url}/graphql?${new URLSearchParams({ extensions })}`;
    const answer = await exchangeEncoded(url, 'GET', { accept });
    expect(answer.status).toBe(200);
    notStored(answer);
    expect(JSON.parse(answer.text)).toMatchObject({
      errors: [NOT_FOUND],
      extensions: { upstream: { requests: 0 } },
    });
  },
);

test('the answer to a GET of a hash has a tag, and is not sent again; that of a text has none', async () => {
  const address = addressOf(0xa99);
  fake.transactions.set(address, servingTransactions(history(30)));
  const text = `{ wallet(address: "${address}") { transactions(first: 5) { nodes { hash } } } }`;
  const extensions = JSON.stringify(persisted(idOf(text)));
  const get = (search: Record<string, string>, headers = {}) =>
    exchangeEncoded(`${gateway.url}/graphql?${new URLSearchParams(search)}`, 'GET', headers);
  notStored(await get({ query: text }));
  notStored(await get({ query: text, extensions }));
  const first = await get({ extensions });
  expect(JSON.parse(first.text).data.wallet.transactions.nodes).toHaveLength(5);
  expectUnchanged(await get({ extensions }, ifNot(tagOf(first))));
});

test.each([
  ['no object', []],
  ['no hash', { persistedQuery: { version: 1 } }],
  ['a hash that is no string', { persistedQuery: { version: 1, sha256Hash: 5 } }],
  ['a hash of the prototype', { persistedQuery: Object.create(null) }],
])('extensions with %s name no document', async (_what, extensions) => {
  expect(
    await overWebSocket(gateway.url, {
      query: '{ __typename }',
      extensions: Array.isArray(extensions) ? {} : extensions,
    }),
  ).toMatchObject({
    data: { __typename: 'Query' },
  });
  const reply = await gateway.post(JSON.stringify({ extensions }));
  expect(reply.errors?.[0]?.message).toBe('Expected a query, got none.');
});

describe('with TRUSTED_DOCUMENTS', () => {
  const TRUSTED = 'query Trusted { __typename }';
  for (const [transport, send] of TRANSPORTS)
    test(`clients are told to send texts, which do not run, over ${transport}`, async () => {
      await using trusting = await startTrusting([TRUSTED], { UPSTREAM_URL: fake.url });
      const text = newText();
      const empty = transport === 'WebSocket' ? { query: '' } : {};
      expect(await send(trusting.url, { ...empty, ...byHash(text) })).toMatchObject({
        errors: [
          {
            message: 'PersistedQueryNotSupported',
            extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' },
          },
        ],
      });
      for (const payload of [withHash(text), { query: text }])
        expect(await send(trusting.url, payload)).toMatchObject({
          errors: [{ extensions: { code: 'FORBIDDEN' } }],
        });
      expect(await send(trusting.url, { ...empty, ...byHash(TRUSTED) })).toMatchObject({
        data: { __typename: 'Query' },
      });
    });
});

test('with AUTH=key each key has texts of its own', async () => {
  await using own = await startGateway({ UPSTREAM_URL: fake.url, ...byKey });
  const text = newText();
  expect(await overHttp(own.url, withHash(text), withKey('one'))).toMatchObject({ data: {} });
  expect(await overHttp(own.url, byHash(text), withKey('one'))).toMatchObject({ data: {} });
  expect(await overHttp(own.url, byHash(text), withKey('another'))).toMatchObject({ errors: [NOT_FOUND] });
});

test('with AUTH=jwt all users of one frontend share texts', async () => {
  await using own = await startGateway({ UPSTREAM_URL: fake.url, ...byToken });
  const text = newText();
  const [one, another] = [bearer(await tokenOf({ sub: 'one' })), bearer(await tokenOf({ sub: 'another' }))];
  expect(await overHttp(own.url, withHash(text), one)).toMatchObject({ data: {} });
  expect(await overHttp(own.url, byHash(text), another)).toMatchObject({ data: {} });
});

describe('the memory of texts is bounded', () => {
  const caller = (billingKey: string) => ({
    credential: { key: '', owner: 'gateway' as const },
    tenant: 'one',
    cachePartition: 'shared',
    billingKey,
    scopes: new Set<never>(),
    expiresAt: null,
  });
  const filler = 'x'.repeat(30_000);
  const queries = createPersistedQueries();
  const has = (hash: string): boolean => {
    try {
      return queries.find(hash, caller('any')) !== '';
    } catch {
      return false;
    }
  };

  test('of each client: it loses its oldest, and no other client loses any', () => {
    queries.keep('of another', filler, caller('another'));
    for (let number = 0; number < 1000; number += 1) queries.keep(`a${number}`, filler, caller('flood'));
    const kept = Array.from({ length: 1000 }, (_, number) => has(`a${number}`));
    expect(kept.filter(Boolean)).toHaveLength(Math.floor((1024 * 1024) / (2 * 30_000 + 512)));
    expect(kept.lastIndexOf(false)).toBeLessThan(kept.indexOf(true));
    expect(has('of another')).toBe(true);
  });

  test('of all clients: those used least recently go', () => {
    for (let number = 0; number < 1000; number += 1) {
      queries.keep(`b${number}`, filler, caller(`client ${number}`));
      expect(has('b0')).toBe(true);
    }
    const kept = Array.from({ length: 1000 }, (_, number) => has(`b${number}`));
    expect(kept.filter(Boolean)).toHaveLength(Math.floor((16 * 1024 * 1024) / (2 * 30_000 + 512)));
  });
});
