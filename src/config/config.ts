import { SHUTDOWN_TIMES } from '../lib/deadlines.ts';
import { chainProblems, indexedOf } from './index-config.ts';
import { authOf, problemsBetween, redisProblems } from './rules.ts';
import { SETTINGS, type Values } from './table.ts';
import { areTracesOn, readTraces, tracesOf } from './traces.ts';
import { type Environment, readVariables, type ValuesOf } from './variable.ts';
import { newestByOldNames, TIMES_HEAD } from './variables/cache.ts';
import { DELIVERIES } from './variables/deliveries.ts';
import { REDIS } from './variables/redis.ts';

/** Lists every problem of an environment. Each names its variable and, unless that is a secret, its value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  /** What a check found out in spite of them, to be shown to a person; empty for nothing. */
  readonly findings: string;

  constructor(problems: readonly string[], findings = '') {
    super(['The configuration has problems:', ...problems].join('\n  '));
    this.name = 'ConfigError';
    this.problems = problems;
    this.findings = findings;
  }
}

/** The values of all variables, with the defaults that follow from others. Throws ConfigError. */
export const readSettings = (env: Environment) => {
  const problems: string[] = [];
  const read = readVariables(SETTINGS, env, problems);
  const hasTraces = areTracesOn(env, read);
  const traces = hasTraces ? readTraces(env, problems) : null;
  problems.push(...chainProblems(read, env), ...problemsBetween(env, read));
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    env,
    traces,
    values: {
      ...read,
      AUTH: authOf(env, read),
      SANDBOX: read.UPSTREAM_URL === null && read.CHAINS === null && read.BLOCKSCOUT === null,
      CONSOLE: read.CONSOLE ?? (read.NODE_ENV !== 'production' && read.TRUSTED_DOCUMENTS === null),
      DEFAULT_CHAIN_COUNT: read.DEFAULT_CHAIN_COUNT ?? (ownChains(read) || 14),
      REDIS_CACHE_URL: read.REDIS_CACHE_URL ?? read.REDIS_URL,
      MCP: read.MCP === true ? (read.MCP_TOOLS ?? true) : read.MCP,
      CACHE_NEWEST_MS: newestMs(read),
    },
  };
};

const ownChains = ({ CHAINS, BLOCKSCOUT }: Pick<Values, 'CHAINS' | 'BLOCKSCOUT'>): number =>
  (CHAINS?.length ?? 0) + (BLOCKSCOUT?.length ?? 0);

type Settings = ReturnType<typeof readSettings>;

const newestMs = (read: Values): { readonly [lookup: string]: number } => ({
  ...Object.fromEntries(
    Object.entries(TIMES_HEAD).map(([lookup, times]) => [lookup, times * read.CACHE_HEAD_MS]),
  ),
  ...newestByOldNames(read),
  ...read.CACHE_NEWEST_MS,
});

/** The settings as the parts of the gateway take them. */
export const configOf = ({ env, values: read, traces }: Settings) =>
  Object.freeze({
    host: read.HOST,
    /** 0 chooses a free port. */
    port: read.PORT,
    upstream: {
      /** Null starts a service in this process: over chains of CHAINS and BLOCKSCOUT, else the sandbox. */
      url: read.UPSTREAM_URL,
      /** Null when each client sends its own. */
      apiKey: read.UPSTREAM_API_KEY,
      apiKeyHeader: read.UPSTREAM_API_KEY_HEADER,
      timeoutMs: read.UPSTREAM_TIMEOUT_MS,
      connections: read.UPSTREAM_CONNECTIONS,
      perSecond: read.UPSTREAM_RPS,
    },
    indexed: indexedOf(read),
    auth: authConfigOf(read),
    allowedOrigins: read.ALLOWED_ORIGINS,
    trustedProxies: read.TRUSTED_PROXIES,
    /** Null stands for `http://HOST:PORT` with the port that was bound. */
    publicUrl: read.PUBLIC_URL,
    deliveries: {
      /** The first signs delivery URLs, and each verifies them. Null: the secret is created once, and kept. */
      secrets: read.DELIVERY_SECRET,
      /** By the tenant as it stands in the path. */
      urlVersions: read.DELIVERY_URL_VERSIONS ?? new Map<string, readonly number[]>(),
      /** Null when deliveries need no signature. */
      signature: read.DELIVERY_SIGNATURE_SECRET && {
        /** In lower case. Null stands for the header whose name ends in `webhook-signature`. */
        header: read.DELIVERY_SIGNATURE_HEADER?.toLowerCase() ?? null,
        secrets: read.DELIVERY_SIGNATURE_SECRET,
      },
      retentionHours: read.DELIVERY_RETENTION_HOURS,
      retentionCount: read.DELIVERY_RETENTION_COUNT,
      retentionTotal: read.DELIVERY_RETENTION_TOTAL,
      dataDir: read.DATA_DIR,
    },
    redis: redisOf(read),
    cache: {
      headMs: read.CACHE_HEAD_MS,
      tailMs: read.CACHE_TAIL_MS,
      staleMs: read.CACHE_STALE_MS,
      newestMs: read.CACHE_NEWEST_MS,
      watchedMs: read.CACHE_WATCHED_MS,
      maxMb: read.CACHE_MAX_MB,
    },
    extraChains: read.EXTRA_CHAINS,
    maxSockets: read.MAX_SOCKETS,
    /** Each of several is a gateway of its own. */
    workers: read.WORKERS,
    shutdown: {
      noticeMs: read.NOTICE_MS ?? SHUTDOWN_TIMES.noticeMs,
      drainMs: read.DRAIN_MS,
      /** Whether the notice is given even where readiness is not polled. */
      alwaysNotices: read.NOTICE_MS !== null,
    },
    maxWatchedWallets: read.MAX_WATCHED_WALLETS,
    maxAnswerMb: read.MAX_ANSWER_MB,
    cost: {
      maxComputeUnits: read.MAX_COMPUTE_UNITS,
      clientComputeUnitsPerMinute: read.CLIENT_COMPUTE_UNITS_PER_MINUTE,
      defaultChainCount: read.DEFAULT_CHAIN_COUNT,
    },
    trustedDocuments: read.TRUSTED_DOCUMENTS,
    /** Null where agents get no tools. `tools` is null for every query that has a name. */
    mcp: read.MCP === false ? null : { tools: read.MCP === true ? null : read.MCP },
    production: read.NODE_ENV === 'production',
    console: { isOn: read.CONSOLE, images: read.CONSOLE_IMAGES },
    compression: read.COMPRESSION,
    metrics: {
      clientNames: read.CLIENT_NAMES,
      operationNames: read.OPERATION_LABELS,
      tenants: read.TENANT_METRICS,
    },
    logLevel: read.LOG_LEVEL,
    traces: traces && tracesOf(traces, env),
    sandboxBlockMs: read.SANDBOX_BLOCK_MS,
  });

export type Config = ReturnType<typeof configOf>;

/** Reads the settings from the environment. Throws ConfigError. */
export const readConfig = (env: Environment): Config => configOf(readSettings(env));

/** How clients authenticate. */
const authConfigOf = (read: Settings['values']) => {
  if (read.AUTH !== 'jwt') return read.AUTH === 'open' ? { mode: 'open' as const } : { mode: 'key' as const };
  return {
    mode: 'jwt' as const,
    keys: read.JWT_JWKS_URL === null ? { secrets: read.JWT_SECRET ?? [] } : { jwksUrl: read.JWT_JWKS_URL },
    issuer: read.JWT_ISSUER,
    audience: read.JWT_AUDIENCE,
    claims: { scopes: read.JWT_SCOPES_CLAIM ?? ['scope'], tenant: read.JWT_TENANT_CLAIM ?? 'tenant' },
    scopeNames: read.JWT_SCOPES,
  };
};

/** The Redis that several gateways share. */
const redisOf = (read: ValuesOf<typeof REDIS>) => {
  const { REDIS_URL: urls, REDIS_CACHE_URL, REDIS_DURABILITY, REDIS_MIN_REPLICAS } = read;
  return (
    urls && {
      /** With user and password. Several are nodes of one Cluster; a single one may name Sentinels. */
      urls,
      /** The same as `urls` unless it is another Redis. */
      cacheUrls: REDIS_CACHE_URL ?? urls,
      durability: REDIS_DURABILITY,
      minReplicas: REDIS_MIN_REPLICAS,
    }
  );
};

/** Where the delivery log is. Throws ConfigError, for these variables alone. */
export const readLogPlace = (env: Environment) => {
  const problems: string[] = [];
  const read = readVariables({ ...REDIS, DATA_DIR: DELIVERIES.DATA_DIR }, env, problems);
  problems.push(...redisProblems(env, read));
  if (problems.length > 0) throw new ConfigError(problems);
  return { redis: redisOf(read), dataDir: read.DATA_DIR };
};
