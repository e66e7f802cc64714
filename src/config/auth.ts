import { isIP } from 'node:net';
import { z } from 'zod';
import type { Environment, Read } from './environment.ts';

/** Who may come in, and how they show it. */
export type AuthConfig =
  | { readonly mode: 'open' }
  | { readonly mode: 'key' }
  | {
      readonly mode: 'jwt';
      /** What tokens are signed with: a secret, or a key that is published at a url. */
      readonly keys: { readonly secret: string } | { readonly jwksUrl: string };
      /** What `iss` must be; null when anything may. */
      readonly issuer: string | null;
      /** What `aud` must name; null when it may name anything. */
      readonly audience: string | null;
    };

type Facts = {
  readonly host: string;
  readonly upstreamUrl: string | null;
  readonly apiKey: string | null;
};

const MODES = ['open', 'key', 'jwt'] as const;

/** `open` lets everyone spend the gateway's key: safe on loopback only, and anywhere else only when said outright. */
export const readAuth = (env: Environment, facts: Facts, read: Read, problems: string[]): AuthConfig => {
  const { host, upstreamUrl, apiKey } = facts;
  const said = read('AUTH', z.enum(MODES), `one of ${MODES.join(', ')}`);
  const holdsKey = Boolean(env.UPSTREAM_API_KEY) || !env.UPSTREAM_URL;
  const mode = said ?? (holdsKey ? 'open' : 'key');
  if (mode === 'open' && !env.AUTH && !isLoopback(host))
    problems.push(
      `HOST: expected a loopback address or AUTH=open said outright, got ${JSON.stringify(host)}: everyone who reaches it could spend the gateway's key`,
    );
  if (mode !== 'key' && said !== null && upstreamUrl !== null && apiKey === null)
    problems.push(`AUTH: expected UPSTREAM_API_KEY beside UPSTREAM_URL when it is ${mode}, got none`);
  if (mode === 'jwt') return readTokens(env, read, problems);
  if (!env.AUTH || said !== null)
    for (const name of ['JWT_SECRET', 'JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const)
      if (env[name]) problems.push(`${name}: expected AUTH=jwt beside it, got ${mode}`);
  return { mode };
};

/** As long as the hash of HS256 is: a shorter one can be guessed from a token. */
const MIN_SECRET_BYTES = 32;

const secretText = z.string().refine((text) => Buffer.byteLength(text) >= MIN_SECRET_BYTES);

const readTokens = (env: Environment, read: Read, problems: string[]): AuthConfig => {
  const secret = read('JWT_SECRET', secretText, `at least ${MIN_SECRET_BYTES} bytes`, true);
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
    keys: jwksUrl === null ? { secret: secret ?? '' } : { jwksUrl },
    issuer: env.JWT_ISSUER || null,
    audience: env.JWT_AUDIENCE || null,
  };
};

/** Of an address or a name to listen on. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Whoever can change the keys on their way can make tokens. */
const keySetUrl = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine((url) => !url.username && !url.password && !url.hash)
  .refine(({ protocol, hostname }) => protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, '')))
  .transform((url) => url.href);
