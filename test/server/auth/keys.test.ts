import { exportSPKI } from 'jose';
import { describe, expect, test } from 'vitest';
import { jwksKeys } from '../../../src/server/auth/jwks.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, issuerKey, startIssuer, tokenOf } from '../../support/gateway/tokens.ts';

/** With JWT_JWKS_URL tokens are checked with the keys that their issuer publishes, as they change. */

const strict = { accept: 'application/graphql-response+json' };

const start = (url: string) =>
  startGateway({ UPSTREAM_URL: nowhere, AUTH: 'jwt', JWT_JWKS_URL: url, JWT_AUDIENCE: 'gateway' });

const ask = (gateway: Gateway, token: string) =>
  gateway.query('{ __typename }', {}, { ...strict, ...bearer(token) });

const taken = async (gateway: Gateway, token: string) => (await ask(gateway, token)).status === 200;

test.each(['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA'])('%s is taken', async (alg) => {
  const key = await issuerKey('one', alg);
  await using issuer = await startIssuer(key.jwk);
  await using gateway = await start(issuer.url);
  expect(await taken(gateway, await key.sign())).toBe(true);
  expect((await ask(gateway, await key.sign({ aud: 'elsewhere' }))).status).toBe(401);
});

test('what everybody can read is no secret: a token signed with the public key is refused', async () => {
  const key = await issuerKey('one', 'RS256');
  await using issuer = await startIssuer(key.jwk);
  await using gateway = await start(issuer.url);
  for (const text of [await exportSPKI(key.publicKey), JSON.stringify(key.jwk), String(key.jwk.n)]) {
    const forged = await tokenOf({}, { alg: 'HS256', kid: 'one', key: new TextEncoder().encode(text) });
    const reply = await ask(gateway, forged);
    expect([reply.status, ...codesOf(reply)]).toEqual([401, 'UNAUTHENTICATED']);
    expect(reply.errors?.[0]?.message).toMatch(/one of RS256,/);
  }
});

test('a secret among the published keys is not used', async () => {
  const secret = new TextEncoder().encode('published-by-mistake-published-by-mistake');
  const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url'), kid: 'one', alg: 'HS256' };
  await using issuer = await startIssuer(jwk);
  await using gateway = await start(issuer.url);
  expect(await taken(gateway, await tokenOf({}, { kid: 'one', key: secret }))).toBe(false);
});

test('another key by the same name proves nothing', async () => {
  const [key, impostor] = [await issuerKey('one'), await issuerKey('one')];
  await using issuer = await startIssuer(key.jwk);
  await using gateway = await start(issuer.url);
  expect(codesOf(await ask(gateway, await impostor.sign()))).toEqual(['UNAUTHENTICATED']);
});

test('a token that names no key is accepted when one of the published keys has signed it, named or not', async () => {
  const [one, two, stranger] = [await issuerKey('one'), await issuerKey('two'), await issuerKey('three')];
  const { kid: _, ...unnamed } = two.jwk;
  await using issuer = await startIssuer(one.jwk, unnamed, { ...two.jwk, alg: 'ES512' });
  await using gateway = await start(issuer.url);
  for (const key of [one, two]) expect(await taken(gateway, await key.signUnnamed())).toBe(true);
  const { errors, status } = await ask(gateway, await stranger.signUnnamed());
  expect([status, errors?.[0]?.message]).toEqual([
    401,
    'Expected a token signed with a key of this gateway, got one that is not.',
  ]);
  expect((await ask(gateway, await two.signUnnamed({ aud: 'elsewhere' }))).errors?.[0]?.message).toMatch(
    /aud/,
  );
});

test('a token that several keys of its name may have signed is accepted when one of them has', async () => {
  const [old, next] = [await issuerKey('same'), await issuerKey('same')];
  await using issuer = await startIssuer(old.jwk, next.jwk);
  await using gateway = await start(issuer.url);
  for (const key of [old, next]) expect(await taken(gateway, await key.sign())).toBe(true);
});

const manyNames = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${index}x`, 1]));

test.each<[what: string, padding: number, copies: number, beside: object, reason: string]>([
  ['of more than 1 MB', 1024 * 1024, 1, {}, 'at most 1048576 bytes'],
  ['of more than a hundred keys', 0, 101, {}, 'at most 100 keys, got 101'],
  ['of more than 10,000 values', 0, 1, manyNames, 'at most 10000 JSON values, got 100'],
])('a key set %s is not taken, and the log says why', async (_what, padding, copies, beside, reason) => {
  const key = await issuerKey('one');
  await using issuer = await startIssuer(...Array(copies).fill({ ...key.jwk, ...beside }));
  issuer.padding = padding;
  await using gateway = await start(issuer.url);
  const reply = await ask(gateway, await key.sign());
  expect([reply.status, ...codesOf(reply)]).toEqual([503, 'INTERNAL_SERVER_ERROR']);
  expect(gateway.logLines.join('\n')).toContain(reason);
});

test('when the keys change, so do the accepted tokens, without a restart', async () => {
  const [old, next] = [await issuerKey('old'), await issuerKey('next')];
  await using issuer = await startIssuer(old.jwk);
  await using gateway = await start(issuer.url);
  expect(await taken(gateway, await old.sign())).toBe(true);
  issuer.keys = [next.jwk];
  await expect.poll(async () => taken(gateway, await next.sign())).toBe(true);
  expect(await taken(gateway, await old.sign({ sub: 'bob' }))).toBe(false);
});

test('made-up key names do not make the gateway ask the issuer again and again', async () => {
  const [key, stranger] = [await issuerKey('one'), await issuerKey('two')];
  await using issuer = await startIssuer(key.jwk);
  await using gateway = await start(issuer.url);
  for (let number = 0; number < 50; number += 1)
    expect((await ask(gateway, await stranger.sign({ jti: String(number) }))).status).toBe(401);
  expect(issuer.fetches).toBeLessThan(5);
});

describe('an issuer that fails is no fault of the client', () => {
  test('the client is asked to retry, and the log says why', async () => {
    const key = await issuerKey('one');
    await using issuer = await startIssuer(key.jwk);
    issuer.status = 500;
    await using gateway = await start(issuer.url);
    const token = await key.sign();
    for (const reply of await Promise.all(Array.from({ length: 20 }, () => ask(gateway, token)))) {
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
      expect(codesOf(reply)).toEqual(['INTERNAL_SERVER_ERROR']);
    }
    expect(issuer.fetches).toBeLessThan(5);
    expect(gateway.logLines.filter((line) => line.includes('JWKS fetch failed')).length).toBe(issuer.fetches);
    issuer.status = 200;
    await expect.poll(async () => taken(gateway, await key.sign())).toBe(true);
  });

  test('also when nothing listens, or the response is not a key set', async () => {
    await using issuer = await startIssuer('no key');
    for (const url of [`${nowhere}/keys`, issuer.url]) {
      await using gateway = await start(url);
      const reply = await ask(gateway, await (await issuerKey('one')).sign());
      expect([reply.status, ...codesOf(reply)]).toEqual([503, 'INTERNAL_SERVER_ERROR']);
      expect(reply.body).not.toContain('127.0.0.1');
    }
  });

  test('keys that it gave before go on to serve, and are looked at again meanwhile', async () => {
    const key = await issuerKey('one');
    await using issuer = await startIssuer(key.jwk);
    const failures: unknown[] = [];
    const { getKey } = jwksKeys(issuer.url, (error) => failures.push(error), {
      refreshMs: 0,
      maxMs: 60_000,
    });
    const look = async () => getKey({ alg: 'ES256', kid: 'one' }, { payload: '', signature: '' });
    const failuresByNow = async () => {
      await look();
      return failures.length;
    };
    expect(await failuresByNow()).toBe(0);
    issuer.status = 500;
    await expect.poll(failuresByNow, { interval: 100 }).toBeGreaterThan(0);
    await expect(look()).resolves.toBeDefined();
  });
});
