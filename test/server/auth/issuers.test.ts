import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { blocksOf, readPage, root } from '../../support/pages.ts';

/**
 * Tokens with the claims of well-known issuers, and the settings of docs/authentication.md for them. Each token has what its issuer
 * adds to it as well.
 */

const page = await readPage('docs/authentication.md');

type Issuer = {
  /** The heading of its settings in the docs. */
  readonly name: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly tenant: string;
  readonly scopes: readonly string[];
};

/** Undefined members take the place of those that the tests' own tokens have. */
const OWN = { scope: undefined, aud: undefined };

const ISSUERS: readonly Issuer[] = [
  {
    name: 'Auth0',
    claims: {
      ...OWN,
      ...{ sub: 'auth0|6553', org_id: 'org_7Xb', gty: 'password', azp: 'k2Y' },
      ...{ scope: 'openid profile', permissions: ['read:wallets', 'read:events'] },
      'https://example.com/roles': ['admin'],
    },
    tenant: 'org_7Xb',
    scopes: ['wallets', 'deliveries'],
  },
  {
    name: 'Okta',
    claims: {
      ...OWN,
      ver: 1,
      cid: '0oa',
      uid: '00u',
      sub: 'me@example.com',
      scp: ['openid', 'wallets', 'watch'],
      org: { id: 'acme' },
    },
    tenant: 'acme',
    scopes: ['wallets', 'watch'],
  },
  {
    name: 'Entra ID',
    claims: {
      ...OWN,
      ...{ ver: '2.0', tid: '72f988bf-86f1-41af-91ab-2d7cd011db47', oid: '690222be' },
      ...{ sub: 'AAAA', scp: 'Wallets.Read Events.Read', roles: ['Webhooks.Manage'] },
    },
    tenant: '72f988bf-86f1-41af-91ab-2d7cd011db47',
    scopes: ['wallets', 'webhooks', 'deliveries'],
  },
  {
    name: 'Cognito',
    claims: {
      ...OWN,
      ...{ token_use: 'access', client_id: '7c5', version: 2, sub: '6f4', username: 'me' },
      ...{ scope: 'openid gateway/wallets gateway/events', 'custom:tenant': 'acme' },
    },
    tenant: 'acme',
    scopes: ['wallets', 'deliveries'],
  },
  {
    name: 'Keycloak',
    claims: {
      ...OWN,
      ...{ typ: 'Bearer', azp: 'dashboard', sub: 'f3c', scope: 'email profile' },
      realm_access: { roles: ['offline_access'] },
      resource_access: { gateway: { roles: ['wallets', 'watch'] }, account: { roles: ['webhooks'] } },
      organization: { id: 'acme' },
    },
    tenant: 'acme',
    scopes: ['wallets', 'watch'],
  },
];

/** The settings of an issuer in the docs. */
const settingsOf = (name: string): Readonly<Record<string, string>> => {
  const [section = ''] = page.text.split(`\n### ${name}\n`)[1]?.split('\n#') ?? [];
  const [block = ''] = blocksOf({ ...page, text: section }, 'ini');
  return Object.fromEntries([...block.matchAll(/^(JWT_\w+)=(.+)$/gm)].map(([, key, value]) => [key, value]));
};

/** Without the network: another key and no address of an issuer. */
const localOf = (name: string): Readonly<Record<string, string>> => {
  const { JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE, ...claims } = settingsOf(name);
  expect(JWT_JWKS_URL).toMatch(/^https:/);
  return { ...byToken, ...claims };
};

/** A document for each scope: FORBIDDEN without it. */
const NEEDS = {
  wallets: '{ wallets(addresses: []) { address } }',
  webhooks: '{ webhooks(first: 1) { edges { cursor } } }',
  deliveries: '{ deliveries { head } }',
  watch: '{ watchedWallets { edges { cursor } } }',
};

test.each(ISSUERS)('a token of $name means what the docs say', async ({ name, claims, tenant, scopes }) => {
  await using gateway = await startGateway(localOf(name));
  const token = await tokenOf(claims);
  const granted: string[] = [];
  for (const [scope, query] of Object.entries(NEEDS)) {
    const reply = await gateway.query(query, {}, bearer(token));
    if (reply.errors === undefined) granted.push(scope);
    else expect(codesOf(reply)).toEqual(['FORBIDDEN']);
  }
  expect(granted).toEqual(scopes);
  // The check of a token says the same, and quotes nothing of it.
  const said = await checkToken(localOf(name), token);
  expect(said.code).toBe(0);
  expect(said.stdout).toContain(`tenant  ${tenant}, by ${localOf(name).JWT_TENANT_CLAIM}`);
  expect(said.stdout).toContain(`scopes  ${scopes.join(', ')}, by`);
  for (const part of token.split('.')) expect(said.stdout + said.stderr).not.toContain(part);
});

/** Runs `--check --token` as a person does. */
const checkToken = async (env: Readonly<Record<string, string>>, input: string) => {
  const program = ['src/main.ts', '--check', '--token'];
  const child = spawn(process.execPath, program, { cwd: root, env: { PATH: process.env.PATH, ...env } });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code };
};

test('a token that is refused is named with what its claims are called', async () => {
  const env = { ...byToken, JWT_TENANT_CLAIM: 'org_id', JWT_AUDIENCE: 'gateway' };
  const other = await checkToken(
    env,
    `Bearer ${await tokenOf({ aud: 'elsewhere', org_id: 'acme', deep: { of: 1 } })}\n`,
  );
  expect([other.code, other.stdout]).toEqual([1, '']);
  expect(other.stderr).toContain(
    'The token is refused. Expected a token whose aud is the one that this gateway accepts',
  );
  expect(other.stderr).toContain('aud, deep.of, exp, iss, org_id, scope, sub');
  expect((await checkToken(env, '')).stderr).toContain('Expected a token on standard input');
  expect((await checkToken({}, 'x')).stderr).toContain('AUTH: expected jwt beside --token, got open');
});

test('a token whose scopes have other names gets none, and the check says which it has', async () => {
  const { stdout } = await checkToken(
    { ...byToken, JWT_SCOPES: 'wallets=gateway/wallets' },
    await tokenOf({ scope: 'wallets' }),
  );
  expect(stdout).toContain('scopes  none, by scope');
  expect(stdout).toContain('It also says wallets, which grants nothing here');
});

test.each([
  ['a list of numbers', { realm_access: { roles: [1] } }, 'realm_access.roles'],
  ['an object', { realm_access: { roles: { wallets: true } } }, 'realm_access.roles'],
  ['a tenant that is a list', { org: { id: ['acme'] } }, 'org.id'],
  ['a tenant of no characters', { org: { id: '' } }, 'org.id'],
])('%s in the place of a claim is refused by its path', async (_, claims, path) => {
  const settings = { JWT_SCOPES_CLAIM: 'realm_access.roles', JWT_TENANT_CLAIM: 'org.id' };
  await using gateway = await startGateway({ ...byToken, ...settings });
  const { errors } = await gateway.query('{ __typename }', {}, bearer(await tokenOf(claims)));
  expect(errors).toMatchObject([
    { message: expect.stringContaining(`whose ${path} is`), extensions: { code: 'UNAUTHENTICATED' } },
  ]);
});

test('a claim whose own name is the path comes before a member', async () => {
  const claims = {
    ...OWN,
    'https://example.com/scopes': ['wallets'],
    'a.b': 'wallets',
    a: { b: 'webhooks' },
  };
  for (const path of ['https://example.com/scopes', 'a.b']) {
    await using gateway = await startGateway({ ...byToken, JWT_SCOPES_CLAIM: path });
    const { errors } = await gateway.query(NEEDS.wallets, {}, bearer(await tokenOf(claims)));
    expect(errors).toBeUndefined();
  }
});
