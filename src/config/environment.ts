import type { z } from 'zod';

/** The environment variables that the gateway reads. docs/configuration.md has the table. */
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
  'TRUSTED_PROXIES',
  'PUBLIC_URL',
  'DELIVERY_SECRET',
  'DELIVERY_URL_VERSIONS',
  'DELIVERY_SIGNATURE_SECRET',
  'DELIVERY_SIGNATURE_HEADER',
  'DELIVERY_RETENTION_HOURS',
  'DELIVERY_RETENTION_COUNT',
  'DATA_DIR',
  'REDIS_URL',
  'REDIS_CACHE_URL',
  'REDIS_DURABILITY',
  'REDIS_MIN_REPLICAS',
  'CACHE_HEAD_MS',
  'CACHE_TAIL_MS',
  'CACHE_STALE_MS',
  'CACHE_MAX_MB',
  'CACHE_COLLECTIBLES_MS',
  'CACHE_WATCHED_MS',
  'MAX_COMPUTE_UNITS',
  'MAX_ANSWER_MB',
  'CLIENT_COMPUTE_UNITS_PER_MINUTE',
  'DEFAULT_CHAIN_COUNT',
  'EXTRA_CHAINS',
  'MAX_SOCKETS',
  'MAX_WATCHED_WALLETS',
  'TRUSTED_DOCUMENTS',
  'NODE_ENV',
  'CONSOLE',
  'CONSOLE_IMAGES',
  'COMPRESSION',
  'LOG_LEVEL',
  'LOG_FORMAT',
  'SANDBOX',
  'SANDBOX_BLOCK_MS',
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_PROPAGATORS',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_BSP_EXPORT_TIMEOUT',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
] as const;

export type Variable = (typeof VARIABLES)[number];

export type Environment = { readonly [name in Variable]?: string | undefined };

/** Reads a variable. Returns null when it is not set or invalid. No message shows the value of a secret. */
export type Read = <Value>(
  name: Variable,
  schema: z.ZodType<Value>,
  expected: string,
  secret?: boolean,
) => Value | null;

const NODE_ENVS = ['', 'production', 'development', 'test'];

/**
 * Returns the names that look like the gateway's but that it does not read, such as `UPSTREAM_TIMOUT_MS`, and an unknown
 * NODE_ENV as `NODE_ENV=prod`. They are no error: Kubernetes sets CACHE_PORT where a service is called cache.
 */
export const unknownVariables = (env: Readonly<Record<string, string | undefined>>): string[] => {
  const unknownNames = Object.keys(env).filter(
    (name) => env[name] && !KNOWN.has(name) && PREFIXES.has(prefixOf(name)),
  );
  const { NODE_ENV = '' } = env;
  return NODE_ENVS.includes(NODE_ENV) ? unknownNames : [...unknownNames, `NODE_ENV=${NODE_ENV}`];
};

const KNOWN: ReadonlySet<string> = new Set(VARIABLES);

/** For `CACHE_MAX_MB` it is `CACHE`. */
const prefixOf = (name: string): string => name.split('_')[0] ?? name;

/** Names such as NODE_OPTIONS are Node's. */
const PREFIXES: ReadonlySet<string> = new Set(VARIABLES.map(prefixOf).filter((prefix) => prefix !== 'NODE'));
