import type { Config } from '../config/config.ts';
import { type Environment, LOOKUP_VARIABLES, VARIABLES, type Variable } from '../config/environment.ts';
import type { SamplerConfig, TracesConfig } from '../config/traces.ts';

type TracesVariable = Extract<Variable, `OTEL_${string}`>;

type Show = (config: Config, env: Environment) => string | number;

const whileOn =
  (show: (traces: TracesConfig) => string | number): Show =>
  ({ traces }) =>
    traces === null ? 'not used: traces are off' : show(traces);

/** If two variables set the same thing, the one for traces takes precedence. Both show what is used. */
const url = whileOn((traces) => shown(traces.url));
const protocol = whileOn((traces) => traces.protocol);
const headers = whileOn((traces) => secret(Object.keys(traces.headers).length === 0 ? null : traces.headers));
const timeout = whileOn((traces) => traces.timeoutMs);
const compression = whileOn((traces) => traces.compression);

const samplerName = ({ ratio, isParentBased }: SamplerConfig): string => {
  const name = ratio === 0 ? 'always_off' : ratio === 1 ? 'always_on' : 'traceidratio';
  return isParentBased ? `parentbased_${name}` : name;
};

/** How the variables of traces are understood. */
const TRACES_VALUES: { readonly [name in TracesVariable]: Show } = {
  OTEL_SDK_DISABLED: (_config, env) => env.OTEL_SDK_DISABLED?.toLowerCase() || 'false',
  OTEL_TRACES_EXPORTER: ({ traces }) => (traces === null ? 'none' : 'otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers,
  OTEL_EXPORTER_OTLP_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression,
  OTEL_SERVICE_NAME: whileOn(({ resource }) => resource['service.name'] ?? 'none'),
  OTEL_RESOURCE_ATTRIBUTES: whileOn(({ resource }) =>
    Object.entries(resource)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
  ),
  OTEL_TRACES_SAMPLER: whileOn(({ sampler }) => samplerName(sampler)),
  OTEL_TRACES_SAMPLER_ARG: whileOn(({ sampler }) => sampler.ratio),
  OTEL_PROPAGATORS: whileOn(({ propagates }) => (propagates ? 'tracecontext' : 'none')),
  OTEL_BSP_SCHEDULE_DELAY: whileOn(({ queue }) => queue.delayMs),
  OTEL_BSP_EXPORT_TIMEOUT: whileOn(({ queue }) => queue.exportMs),
  OTEL_BSP_MAX_QUEUE_SIZE: whileOn(({ queue }) => queue.maxSpans),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: whileOn(({ queue }) => queue.maxBatch),
};

/** A variable as the gateway understood it. */
export type Setting = {
  readonly name: Variable;
  /** In words if the variable has no value, or if another variable makes it unused. Never a secret. */
  readonly value: string;
  readonly from: 'environment' | 'default';
};

/** Lists every variable with its value, in the order of docs/configuration.md. */
export const settingsOf = (env: Environment, config: Config): readonly Setting[] =>
  VARIABLES.map((name) => ({
    name,
    value: textOf(VALUES[name]?.(config, env) ?? null),
    from: env[name] ? 'environment' : 'default',
  }));

type Value = string | number | boolean | null | readonly string[];

const textOf = (value: Value): string => {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'object' ? value.join(',') || 'none' : String(value);
};

const tokensOf = ({ auth }: Config) => (auth.mode === 'jwt' ? auth : null);

const NOT_WITHOUT_REDIS = 'not used without REDIS_URL';
const NOT_WITH_REDIS = 'not used with REDIS_URL';
const NOT_WITHOUT_SANDBOX = 'not used without the sandbox';

const isSandbox = ({ upstream, indexed }: Config): boolean => upstream.url === null && indexed === null;

const ofIndex =
  (show: (indexed: NonNullable<Config['indexed']>) => Value) =>
  ({ indexed }: Config): Value =>
    indexed === null ? 'not used without CHAINS' : show(indexed);

/** Of a node's URL: its path often is a key. */
const nodeShown = (url: string): string => {
  const { protocol, host, pathname, search, username } = new URL(url);
  return `${protocol}//${host}${pathname === '/' && search + username === '' ? '' : '/(access)'}`;
};

const VALUES: { readonly [name in Variable]: (config: Config, env: Environment) => Value } = {
  HOST: ({ host }) => host,
  PORT: ({ port }) => port,
  UPSTREAM_URL: ({ upstream, indexed }) =>
    upstream.url ?? (indexed === null ? 'none: the sandbox' : 'none: the index of CHAINS'),
  UPSTREAM_API_KEY: ({ upstream }) => secret(upstream.apiKey),
  UPSTREAM_API_KEY_HEADER: ({ upstream }) => upstream.apiKeyHeader,
  UPSTREAM_TIMEOUT_MS: ({ upstream }) => upstream.timeoutMs,
  UPSTREAM_CONNECTIONS: ({ upstream }) => upstream.connections,
  UPSTREAM_RPS: ({ upstream }) => upstream.perSecond,
  AUTH: ({ auth }) => auth.mode,
  JWT_SECRET: (config) => {
    const keys = tokensOf(config)?.keys;
    return secrets(keys && 'secrets' in keys ? keys.secrets : null);
  },
  JWT_JWKS_URL: (config) => {
    const keys = tokensOf(config)?.keys;
    return keys && 'jwksUrl' in keys ? shown(keys.jwksUrl) : null;
  },
  JWT_ISSUER: (config) => tokensOf(config)?.issuer ?? null,
  JWT_AUDIENCE: (config) => tokensOf(config)?.audience ?? null,
  ALLOWED_ORIGINS: ({ allowedOrigins }) => allowedOrigins,
  TRUSTED_PROXIES: ({ trustedProxies }) => trustedProxies,
  PUBLIC_URL: ({ publicUrl }) => publicUrl ?? 'http://HOST:PORT as bound',
  DELIVERY_SECRET: ({ deliveries }) =>
    deliveries.secrets === null ? 'not set: made at the first start, and kept' : secrets(deliveries.secrets),
  DELIVERY_URL_VERSIONS: ({ deliveries }) =>
    [...deliveries.urlVersions].map(([tenant, versions]) => `${tenant}=${versions.join('+')}`),
  DELIVERY_SIGNATURE_SECRET: ({ deliveries }) => secret(deliveries.signature),
  DELIVERY_SIGNATURE_HEADER: ({ deliveries }) =>
    deliveries.signature === null
      ? 'not used without DELIVERY_SIGNATURE_SECRET'
      : (deliveries.signature.header ?? 'the one whose name ends in webhook-signature'),
  DELIVERY_RETENTION_HOURS: ({ deliveries }) => deliveries.retentionHours,
  DELIVERY_RETENTION_COUNT: ({ deliveries }) => deliveries.retentionCount,
  DELIVERY_RETENTION_TOTAL: ({ deliveries }) => deliveries.retentionTotal,
  DATA_DIR: ({ deliveries, redis }) => (redis === null ? deliveries.dataDir : NOT_WITH_REDIS),
  REDIS_URL: ({ redis }) => redis?.urls.map(shown) ?? null,
  REDIS_CACHE_URL: ({ redis }) => (redis === null ? NOT_WITHOUT_REDIS : redis.cacheUrls.map(shown)),
  REDIS_DURABILITY: ({ redis }) => redis?.durability ?? NOT_WITHOUT_REDIS,
  REDIS_MIN_REPLICAS: ({ redis }) => redis?.minReplicas ?? NOT_WITHOUT_REDIS,
  CACHE_HEAD_MS: ({ cache }) => cache.headMs,
  CACHE_TAIL_MS: ({ cache }) => cache.tailMs,
  CACHE_STALE_MS: ({ cache }) => cache.staleMs,
  CACHE_MAX_MB: ({ cache }) => cache.maxMb,
  ...Object.fromEntries(
    LOOKUP_VARIABLES.map(({ lookup, variable }) => [
      variable,
      ({ cache }: Config) => cache.newestMs[lookup] ?? null,
    ]),
  ),
  CACHE_WATCHED_MS: ({ cache }) => cache.watchedMs,
  MAX_COMPUTE_UNITS: ({ cost }) => cost.maxComputeUnits,
  MAX_ANSWER_MB: ({ maxAnswerMb }) => maxAnswerMb,
  CLIENT_COMPUTE_UNITS_PER_MINUTE: ({ cost }) => cost.clientComputeUnitsPerMinute,
  DEFAULT_CHAIN_COUNT: ({ cost }) => cost.defaultChainCount,
  EXTRA_CHAINS: ({ extraChains }) =>
    extraChains.map(({ chainId, name, tags }) => [chainId, name, ...tags].join(':')),
  WORKERS: ({ workers }) => workers,
  MAX_SOCKETS: ({ maxSockets }) => maxSockets,
  NOTICE_MS: ({ shutdown: { noticeMs, alwaysNotices } }) =>
    alwaysNotices ? noticeMs : `${noticeMs}, or 0 while readiness is not polled`,
  DRAIN_MS: ({ shutdown }) => shutdown.drainMs,
  MAX_WATCHED_WALLETS: ({ maxWatchedWallets }) => maxWatchedWallets,
  TRUSTED_DOCUMENTS: ({ trustedDocuments }) => trustedDocuments,
  MCP: ({ mcp }) => mcp !== null,
  MCP_TOOLS: ({ mcp }) =>
    mcp === null ? 'not used without MCP=on' : (mcp.tools ?? 'none: every query that has a name'),
  NODE_ENV: ({ production }) => (production ? 'production' : 'development'),
  CONSOLE: ({ console: { isOn } }) => isOn,
  CONSOLE_IMAGES: ({ console: { images } }) => images,
  COMPRESSION: ({ compression }) => compression,
  CLIENT_NAMES: ({ metrics }) => metrics.clientNames,
  OPERATION_LABELS: ({ metrics }) => metrics.operationNames ?? 'none: those of trusted documents',
  TENANT_METRICS: ({ metrics }) => metrics.tenants,
  LOG_LEVEL: ({ logLevel }) => logLevel,
  LOG_FORMAT: ({ logFormat }) => logFormat,
  SANDBOX: isSandbox,
  SANDBOX_BLOCK_MS: (config) => (isSandbox(config) ? config.sandboxBlockMs : NOT_WITHOUT_SANDBOX),
  CHAINS: ({ indexed }) => indexed?.chains.map(({ id, url }) => `${id}=${nodeShown(url)}`) ?? null,
  START_BLOCK: ofIndex(({ chains }) =>
    chains.map(({ id, startBlock }) => `${id}=${startBlock ?? 'by the height'}`),
  ),
  INDEX_DIR: ofIndex(({ directory }) => directory),
  ABI_DIR: ofIndex(({ abiDirectory }) => abiDirectory),
  METADATA: ofIndex(({ metadata }) => metadata !== null),
  IPFS_GATEWAY: ofIndex(({ metadata }) =>
    metadata === null ? 'not used without METADATA=on' : shown(metadata.ipfsGateway),
  ),
  PRICES: ofIndex(({ prices }) => prices && shown(prices)),
  ...TRACES_VALUES,
};

/** What is shown of a secret that may have a second value. */
const secrets = (values: readonly string[] | null): string =>
  values?.length === 2 ? 'set, two values' : secret(values);

/** What is shown of a secret. */
const secret = (value: unknown): string => (value === null ? 'not set' : 'set');

/** A URL without user, password and query, which may give access. */
export const shown = (url: string): string =>
  url.replace(/\/\/[^/?#]*@/, '//(access)@').replace(/\?.*$/s, '?(query)');
