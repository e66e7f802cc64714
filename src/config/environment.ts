import { z } from 'zod';
import { INDEXED_VARIABLES } from '../backend/indexer/config.ts';
import type { Chain } from '../lookups/chains/known-chains.ts';
import { itemLookups, lookups } from '../lookups/registry.ts';
import { isNetwork } from '../server/http/client-address.ts';

const FIXED = [
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
  'DELIVERY_RETENTION_TOTAL',
  'DATA_DIR',
  'REDIS_URL',
  'REDIS_CACHE_URL',
  'REDIS_DURABILITY',
  'REDIS_MIN_REPLICAS',
  'CACHE_HEAD_MS',
  'CACHE_TAIL_MS',
  'CACHE_STALE_MS',
  'CACHE_MAX_MB',
  'CACHE_WATCHED_MS',
  'MAX_COMPUTE_UNITS',
  'MAX_ANSWER_MB',
  'CLIENT_COMPUTE_UNITS_PER_MINUTE',
  'DEFAULT_CHAIN_COUNT',
  'EXTRA_CHAINS',
  'WORKERS',
  'MAX_SOCKETS',
  'NOTICE_MS',
  'DRAIN_MS',
  'MAX_WATCHED_WALLETS',
  'TRUSTED_DOCUMENTS',
  'MCP',
  'MCP_TOOLS',
  'NODE_ENV',
  'CONSOLE',
  'CONSOLE_IMAGES',
  'COMPRESSION',
  'CLIENT_NAMES',
  'OPERATION_LABELS',
  'TENANT_METRICS',
  'LOG_LEVEL',
  'LOG_FORMAT',
  'SANDBOX',
  'SANDBOX_BLOCK_MS',
  ...INDEXED_VARIABLES,
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

/** Says how long the newest page of one lookup is fresh. */
type LookupVariable = `CACHE_${string}_MS`;

type FixedVariable = (typeof FIXED)[number];
export type Variable = FixedVariable | LookupVariable;

/** The variable of each lookup that has one: see `timesHead` of ListDefinition. */
export const LOOKUP_VARIABLES = [...lookups, ...itemLookups].flatMap(({ name, timesHead }) =>
  timesHead === undefined
    ? []
    : [
        {
          lookup: name,
          timesHead,
          variable: `CACHE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}_MS` as const,
        },
      ],
);

/** The environment variables that the gateway reads. docs/configuration.md has the table. */
export const VARIABLES: readonly Variable[] = FIXED.flatMap((name): readonly Variable[] =>
  name === 'CACHE_MAX_MB' ? [name, ...LOOKUP_VARIABLES.map(({ variable }) => variable)] : [name],
);

export type Environment = { readonly [name in Variable]?: string | undefined };

/** Reads a variable. Returns null if it is unset or invalid. No message shows the value of a secret. */
export type Read = <Value>(
  name: Variable,
  schema: z.ZodType<Value>,
  expected: string,
  secret?: boolean,
) => Value | null;

/** The values of environment variables, as zod schemas. */

/** An integer in decimal digits from `min` to `max`. */
export const integerIn = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** Without credentials, query and fragment; it is read without trailing slashes. */
export const httpUrl = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine((url) => !url.username && !url.password && !url.search && !url.hash)
  .transform((url) => url.href.replace(/\/+$/, ''));

/** Headers that a request needs for itself. They can't carry a key. */
const OWN_HEADERS = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'transfer-encoding',
  'upgrade',
]);

/** The name of an HTTP header that can carry a key or a signature. */
export const headerName = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/)
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()));

/** The key of an API, as a header can carry it. */
export const headerValue = z.string().regex(/^[\x21-\x7e]{1,4096}$/);

/** Comma-separated values, at least one. */
export const commaList = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.string()).min(1));

/** A secret, or two different ones, comma-separated: the second one is being replaced, or about to replace the first. */
export const secretsOf = (isLongEnough: (secret: string) => boolean) =>
  z
    .string()
    .transform((text) => (text.includes(',') ? text.split(',').map((part) => part.trim()) : [text]))
    .pipe(z.tuple([z.string()], z.string()))
    .refine((secrets) => secrets.length <= 2 && isUnique(secrets) && secrets.every(isLongEnough));

const URL_VERSIONS = /^([A-Za-z0-9._~!*'()%-]+)=(\d{1,6})(?:\+(\d{1,6}))?$/;

/** Versions of tenants' delivery URLs: `acme=2`, or two with a plus between them, comma-separated. */
export const urlVersions = commaList
  .pipe(z.array(z.string().regex(URL_VERSIONS)))
  .transform((entries) =>
    entries.map((entry) => {
      const [, tenant = '', ...versions] = URL_VERSIONS.exec(entry) ?? [];
      return [tenant, versions.filter((version) => version !== undefined).map(Number)] as const;
    }),
  )
  .refine(
    (entries) =>
      isUnique(entries.map(([tenant]) => tenant)) &&
      entries.every(([, versions]) => isUnique(versions) && versions.every((version) => version > 0)),
  )
  .transform((entries) => new Map<string, readonly number[]>(entries));

/** Web origins as browsers send them, comma-separated. */
export const origins = commaList.refine((list) =>
  list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
);

/** IP addresses and networks, comma-separated. */
export const networks = commaList.refine((list) => list.every(isNetwork));

const CHAIN_NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}';
const CHAIN = new RegExp(`^\\d{1,16}:${CHAIN_NAME}(?::${CHAIN_NAME})*$`);

/** Ids, names and tags of chains: `4242:newchain:mainnet,434343:other`. Each id and each name is unique. */
export const extraChains = commaList
  .pipe(z.array(z.string().regex(CHAIN)))
  .transform((entries) => entries.map(readChain))
  .refine((chains) => chains.every(({ chainId }) => Number.isSafeInteger(chainId)))
  .refine(
    (chains) => isUnique(chains.map(({ chainId }) => chainId)) && isUnique(chains.map(({ name }) => name)),
  );

const readChain = (entry: string): Chain => {
  const [chainId, name = '', ...tags] = entry.split(':');
  return { chainId: Number(chainId), name, tags };
};

const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
