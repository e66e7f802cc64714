import { isIP } from 'node:net';
import { z } from 'zod';
import type { AcceptedTokens } from '../server/auth/tokens.ts';
import type { Environment, Read } from './environment.ts';
import { secretsOf } from './environment.ts';

/** How clients authenticate. */
export type AuthConfig =
  | { readonly mode: 'open' }
  | { readonly mode: 'key' }
  | ({ readonly mode: 'jwt' } & AcceptedTokens);

type Facts = {
  readonly host: string;
  readonly upstreamUrl: string | null;
  readonly apiKey: string | null;
};

const MODES = ['open', 'key', 'jwt'] as const;

/** Reads AUTH. With `open` any client uses the gateway's key, so beyond loopback AUTH=open must be set explicitly. */
export const readAuth = (env: Environment, facts: Facts, read: Read, problems: string[]): AuthConfig => {
  const { host, upstreamUrl, apiKey } = facts;
  const explicit = read('AUTH', z.enum(MODES), `one of ${MODES.join(', ')}`);
  const holdsKey = Boolean(env.UPSTREAM_API_KEY) || !env.UPSTREAM_URL;
  const mode = explicit ?? (holdsKey ? 'open' : 'key');
  if (mode === 'open' && !env.AUTH && !isLoopback(host))
    problems.push(
      `HOST: expected a loopback address or an explicit AUTH=open, got ${JSON.stringify(host)}: any client that reaches it could use the gateway's key`,
    );
  if (mode === 'key' && env.CHAINS && apiKey === null)
    problems.push('AUTH: expected UPSTREAM_API_KEY beside CHAINS when it is key, got none');
  if (mode !== 'key' && explicit !== null && upstreamUrl !== null && apiKey === null)
    problems.push(`AUTH: expected UPSTREAM_API_KEY beside UPSTREAM_URL when it is ${mode}, got none`);
  if (mode === 'jwt') return readTokens(env, read, problems);
  if (!env.AUTH || explicit !== null)
    for (const name of ['JWT_SECRET', 'JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const)
      if (env[name]) problems.push(`${name}: expected AUTH=jwt beside it, got ${mode}`);
  return { mode };
};

/** The length of the hash of HS256. A shorter secret can be guessed from a token. */
const MIN_SECRET_BYTES = 32;

const readTokens = (env: Environment, read: Read, problems: string[]): AuthConfig => {
  const secrets = read(
    'JWT_SECRET',
    secretsOf((secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES),
    `a secret, or two, comma-separated, of at least ${MIN_SECRET_BYTES} bytes each (a comma always separates two)`,
    true,
  );
  const jwksUrl = read(
    'JWT_JWKS_URL',
    keySetUrl,
    'an https URL, or an http one of a loopback address, without credentials or fragment',
    true,
  );
  if (Boolean(env.JWT_SECRET) === Boolean(env.JWT_JWKS_URL))
    problems.push(
      `JWT_SECRET, JWT_JWKS_URL: expected one of them when AUTH is jwt, got ${env.JWT_SECRET ? 'both' : 'neither'}`,
    );
  return {
    mode: 'jwt',
    keys: jwksUrl === null ? { secrets: secrets ?? [''] } : { jwksUrl },
    issuer: env.JWT_ISSUER || null,
    audience: env.JWT_AUDIENCE || null,
  };
};

/** Whether an address or a name to listen on is loopback. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Plain http is for loopback only: an attacker that can change the keys in transit can make tokens. */
const keySetUrl = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine((url) => !url.username && !url.password && !url.hash)
  .refine(({ protocol, hostname }) => protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, '')))
  .transform((url) => url.href);
