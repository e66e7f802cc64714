import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, claimsOf, issuerKey, jwtSecret, tokenOf } from '../../support/gateway/tokens.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** With AUTH=jwt a token authenticates the client. An invalid token is rejected on every transport. */

const document =
  'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }';

/** A client that accepts this media type gets the HTTP status. */
const strict = { accept: 'application/graphql-response+json' };

const now = () => Math.floor(Date.now() / 1000);

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Made by hand, for what no library would sign. */
const forged = (header: object, claims: unknown, key: string | null = jwtSecret) => {
  const signed = `${encoded(header)}.${encoded(claims)}`;
  return `${signed}.${key === null ? '' : createHmac('sha256', key).update(signed).digest('base64url')}`;
};

type Row = { readonly why: string; readonly token: () => string | Promise<string>; readonly says: RegExp };

const claiming = (why: string, claims: Record<string, unknown>, says: RegExp): Row => ({
  why,
  token: () => tokenOf(claims),
  says,
});

const HS256 = { alg: 'HS256' };

const rows: Row[] = [
  { why: 'no JWT', token: () => 'not-a-token', says: /signed JWT/ },
  { why: 'three parts of nothing', token: () => 'a.b.c', says: /signed JWT/ },
  { why: 'giant', token: () => 'x'.repeat(9000), says: /8192 characters/ },
  { why: 'unsigned', token: () => forged({ alg: 'none' }, claimsOf(), null), says: /not at all/ },
  {
    why: 'unsigned in another spelling',
    token: () => forged({ alg: 'nOnE' }, claimsOf(), null),
    says: /HS256/,
  },
  { why: 'without a signature', token: () => forged(HS256, claimsOf(), null), says: /key of this gateway/ },
  {
    why: 'signed with a guess',
    token: () => forged(HS256, claimsOf(), 'guess'),
    says: /key of this gateway/,
  },
  { why: 'signed with nothing', token: () => forged(HS256, claimsOf(), ''), says: /key of this gateway/ },
  {
    why: 'changed after it was signed',
    token: async () => (await tokenOf()).replace(/\.[^.]+\./, `.${encoded(claimsOf({ sub: 'bob' }))}.`),
    says: /key of this gateway/,
  },
  {
    why: "signed with a client's own key pair",
    token: async () => (await issuerKey('a')).sign(),
    says: /HS256/,
  },
  {
    why: 'critical of what nobody knows',
    token: () => forged({ ...HS256, crit: ['x'], x: 1 }, claimsOf()),
    says: /signed JWT/,
  },
  { why: 'a list of claims', token: () => forged(HS256, ['sub']), says: /signed JWT/ },
  claiming('expired', { exp: now() - 60 }, /expired/),
  claiming('not valid yet', { nbf: now() + 600 }, /not yet/),
  claiming('without an end', { exp: undefined }, /exp/),
  { why: 'of an end in words', token: () => forged(HS256, claimsOf({ exp: 'never' })), says: /exp/ },
  claiming('of another issuer', { iss: 'https://elsewhere.test' }, /iss/),
  claiming('of no issuer', { iss: undefined }, /iss/),
  claiming('for another audience', { aud: ['elsewhere'] }, /aud/),
  claiming('for no audience', { aud: undefined }, /aud/),
  claiming('of nobody', { sub: undefined }, /sub or tenant/),
  claiming('of an empty subject', { sub: '' }, /sub/),
  { why: 'of a subject that is a number', token: () => forged(HS256, claimsOf({ sub: 7 })), says: /sub/ },
  claiming('of a tenant that climbs out of a url', { tenant: '..' }, /tenant/),
  claiming('of a tenant that a url leaves out', { tenant: '.' }, /tenant/),
  claiming('of an empty tenant', { tenant: '' }, /tenant/),
  claiming('of half a character', { tenant: '\ud800' }, /tenant/),
  claiming('of several tenants', { tenant: ['alice', 'bob'] }, /tenant/),
  claiming('of a giant tenant', { tenant: 'x'.repeat(256) }, /tenant/),
  claiming('of a scope that is no text', { scope: { wallets: true } }, /scope/),
];

const settings: [string, Record<string, string>][] = [
  ['by default', {}],
  ['in production', { NODE_ENV: 'production' }],
];

describe.each(settings)('%s a token is UNAUTHENTICATED that is', (_how, env) => {
  let fake: FakeWallets;
  let gateway: Gateway;
  beforeAll(async () => {
    fake = await startFakeWallets();
    const expected = { JWT_ISSUER: 'https://issuer.test', JWT_AUDIENCE: 'gateway' };
    gateway = await startGateway({ UPSTREAM_URL: fake.url, ...byToken, ...expected, ...env });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await fake[Symbol.asyncDispose]();
  });

  test('none of these', async () => {
    const reply = await gateway.query('{ __typename }', {}, { ...strict, ...bearer(await tokenOf()) });
    expect([reply.status, reply.data]).toEqual([200, { __typename: 'Query' }]);
  });

  test.each(rows)('$why, by HTTP', async ({ token, says }) => {
    const sent = await token();
    const reply = await gateway.query(document, { address: freshAddress() }, { ...strict, ...bearer(sent) });
    expect(codesOf(reply)).toEqual(['UNAUTHENTICATED']);
    expect(reply.errors?.[0]?.message).toMatch(says);
    expect(reply.errors?.[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED' });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="gateway", error="invalid_token", error_description="[^"\\]+"$/,
    );
    for (const part of sent.split('.').filter((piece) => piece.length > 8)) {
      expect(reply.body).not.toContain(part);
      expect(JSON.stringify([...reply.headers])).not.toContain(part);
    }
    expect(reply.extensions.upstream.requests).toBe(0);
    expect(fake.requests).toEqual([]);
  });

  test.each(rows)('$why, by server-sent events', async ({ token, says }) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(await token()) },
      body: JSON.stringify({ query: 'subscription { deliveries { cursor } }' }),
    });
    const body = await response.text();
    expect(body).toContain('UNAUTHENTICATED');
    expect(body).toMatch(says);
    expect(body).not.toContain('"http"');
  });

  test.each(rows)('$why, by WebSocket', async ({ token }) => {
    await using socket = subscribe(gateway.url, { connectionParams: bearer(await token()) });
    await Promise.race([socket.ended, socket.opened.then(() => socket.ended)]);
    expect(socket.edges).toEqual([]);
    expect(codesOf({ errors: socket.faults })).toEqual(['UNAUTHENTICATED']);
  });

  test.each([
    ['none', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a scheme alone', { authorization: 'Bearer ' }],
    ['two tokens', { authorization: 'Bearer a b' }],
    ['the key of the service', { 'x-service-api-key': 'some-key' }],
  ])('%s at all: then it is asked for, and not called wrong', async (_why, headers) => {
    const reply = await gateway.query(document, { address: freshAddress() }, { ...strict, ...headers });
    expect(codesOf(reply)).toEqual(['UNAUTHENTICATED']);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="gateway"']);
  });

  test('one that is missing where the status tells of the transport alone: 200', async () => {
    const reply = await gateway.query(document, { address: freshAddress() });
    expect([reply.status, ...codesOf(reply)]).toEqual([200, 'UNAUTHENTICATED']);
  });
});

describe('a token is accepted', () => {
  const taken = async (token: string, env: Record<string, string> = {}) => {
    await using gateway = await startGateway({ ...byToken, UPSTREAM_URL: nowhere, ...env });
    return await gateway.query('{ deliveries { head } deliveryUrl }', {}, bearer(token));
  };

  test.each(['HS256', 'HS384', 'HS512'])('that is signed by %s', async (alg) => {
    expect((await taken(await tokenOf({}, { alg }))).errors).toBeUndefined();
  });

  test.each([
    ['a list', ['deliveries', 'webhooks']],
    ['text', 'deliveries webhooks others'],
  ])('whose scope is %s', async (_how, scope) => {
    expect((await taken(await tokenOf({ scope }))).errors).toBeUndefined();
  });

  test('whose audience is one of several', async () => {
    const token = await tokenOf({ aud: ['elsewhere', 'gateway'] });
    expect((await taken(token, { JWT_AUDIENCE: 'gateway' })).errors).toBeUndefined();
  });

  test('that expired, or becomes valid, within what clocks differ', async () => {
    expect((await taken(await tokenOf({ exp: now() - 1, nbf: now() + 2 }))).errors).toBeUndefined();
  });

  test('of a tenant without a subject', async () => {
    expect((await taken(await tokenOf({ sub: undefined, tenant: 'acme' }))).errors).toBeUndefined();
  });

  test('in any letter case of the scheme', async () => {
    await using gateway = await startGateway({ ...byToken, UPSTREAM_URL: nowhere });
    const reply = await gateway.query('{ __typename }', {}, { authorization: `bearer ${await tokenOf()}` });
    expect(reply.errors).toBeUndefined();
  });
});

test('a token that expires is rejected from then on, though it was accepted before', async () => {
  await using gateway = await startGateway({ ...byToken, UPSTREAM_URL: nowhere });
  const headers = bearer(await tokenOf({ exp: now() - 3 }));
  expect((await gateway.query('{ __typename }', {}, headers)).errors).toBeUndefined();
  await expect
    .poll(async () => codesOf(await gateway.query('{ __typename }', {}, headers)))
    .toEqual(['UNAUTHENTICATED']);
});

test('introspection needs a token and no scope', async () => {
  await using gateway = await startGateway({ ...byToken, UPSTREAM_URL: nowhere });
  const query = '{ __schema { queryType { name } } }';
  expect(codesOf(await gateway.query(query))).toEqual(['UNAUTHENTICATED']);
  const reply = await gateway.query(query, {}, bearer(await tokenOf({ scope: '' })));
  expect(reply.data).toEqual({ __schema: { queryType: { name: 'Query' } } });
});

test('the process as it is shipped asks for a token, and tells none of it in its log', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'auth-test-'));
  try {
    await using gateway = await spawnGateway({
      ...byToken,
      DATA_DIR: dataDir,
      LOG_LEVEL: 'debug',
      NODE_ENV: 'production',
      SANDBOX: 'on',
      SANDBOX_BLOCK_MS: '100',
    });
    const ask = (token: string) => gateway.query('{ deliveryUrl }', {}, { ...strict, ...bearer(token) });
    const token = await tokenOf({ tenant: 'demo' });
    const taken = await ask(token);
    expect([taken.status, (await ask(`${token}x`)).status]).toEqual([200, 401]);
    await using demo = subscribe(gateway.url, { connectionParams: bearer(token) });
    await eventually(() => demo.edges.length > 1);
    expect(await gateway.end('SIGTERM')).toBe(0);
    const [, deliveryToken = ''] = /demo\/([^"?]+)/.exec(taken.body) ?? [];
    expect(deliveryToken).not.toBe('');
    for (const secret of [token, jwtSecret, deliveryToken]) expect(gateway.output.text).not.toContain(secret);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
