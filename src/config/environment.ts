import type { z } from 'zod';

/** What the gateway reads of its environment; docs/configuration.md has the table. */
export const VARIABLES = [
  'HOST',
  'PORT',
  'UPSTREAM_URL',
  'UPSTREAM_API_KEY',
  'UPSTREAM_API_KEY_HEADER',
  'UPSTREAM_TIMEOUT_MS',
  'UPSTREAM_CONNECTIONS',
  'UPSTREAM_RPS',
  'AUTH',
  'JWT_SECRET',
  'JWT_JWKS_URL',
  'JWT_ISSUER',
  'JWT_AUDIENCE',
  'ALLOWED_ORIGINS',
  'PUBLIC_URL',
  'DELIVERY_SECRET',
  'DELIVERY_SIGNATURE_SECRET',
  'DELIVERY_SIGNATURE_HEADER',
  'DELIVERY_RETENTION_HOURS',
  'DELIVERY_RETENTION_COUNT',
  'DATA_DIR',
  'CACHE_HEAD_MS',
  'CACHE_TAIL_MS',
  'CACHE_STALE_MS',
  'CACHE_MAX_MB',
  'CACHE_COLLECTIBLES_MS',
  'MAX_COMPUTE_UNITS',
  'MAX_ANSWER_MB',
  'CLIENT_COMPUTE_UNITS_PER_MINUTE',
  'DEFAULT_CHAIN_COUNT',
  'EXTRA_CHAINS',
  'MAX_SOCKETS',
  'TRUSTED_DOCUMENTS',
  'NODE_ENV',
  'LOG_LEVEL',
  'SANDBOX',
  'SANDBOX_BLOCK_MS',
  'REDIS_URL',
] as const;

export type Variable = (typeof VARIABLES)[number];

export type Environment = { readonly [name in Variable]?: string | undefined };

/** Reads a variable, null when it is not set or has a problem; no message shows the value of a secret one. */
export type Read = <Value>(
  name: Variable,
  schema: z.ZodType<Value>,
  expected: string,
  secret?: boolean,
) => Value | null;

const NODE_ENVS = ['', 'production', 'development', 'test'];

/**
 * Names that look like the gateway's own and mean nothing to it: `UPSTREAM_TIMOUT_MS`, and NODE_ENV as `NODE_ENV=prod`.
 * None is worth a refusal: Kubernetes sets CACHE_PORT where a service is called cache.
 */
export const unknownVariables = (env: Readonly<Record<string, string | undefined>>): string[] => {
  const unknownNames = Object.keys(env).filter(
    (name) => env[name] && !KNOWN.has(name) && PREFIXES.has(prefixOf(name)),
  );
  const { NODE_ENV = '' } = env;
  return NODE_ENVS.includes(NODE_ENV) ? unknownNames : [...unknownNames, `NODE_ENV=${NODE_ENV}`];
};

const KNOWN: ReadonlySet<string> = new Set(VARIABLES);

/** Of `CACHE_MAX_MB`, `CACHE`. */
const prefixOf = (name: string): string => name.split('_')[0] ?? name;

/** NODE_OPTIONS and its like are Node's. */
const PREFIXES: ReadonlySet<string> = new Set(VARIABLES.map(prefixOf).filter((prefix) => prefix !== 'NODE'));
