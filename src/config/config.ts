import { z } from 'zod';
import { type IndexedConfig, readIndexedConfig } from '../backend/indexer/config.ts';
import { SHUTDOWN_TIMES, type ShutdownTimes } from '../lib/deadlines.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../lib/log.ts';
import type { Chain } from '../lookups/chains/known-chains.ts';
import { type AuthConfig, readAuth } from './auth.ts';
import type { Environment, Read, Variable } from './environment.ts';
import {
  commaList,
  extraChains,
  headerName,
  headerValue,
  httpUrl,
  integerIn,
  LOOKUP_VARIABLES,
  networks,
  origins,
  secretsOf,
  urlVersions,
} from './environment.ts';
import { type McpConfig, readMcp } from './mcp.ts';
import { type MetricsConfig, readMetrics } from './metrics.ts';
import { type RedisConfig, readRedis } from './redis.ts';
import { readTraces, type TracesConfig } from './traces.ts';

/** The settings of the gateway. docs/configuration.md has the table of their variables. */
export type Config = {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly upstream: {
    /** Without a trailing slash. Null starts a service in this process: over an index, else the sandbox. */
    readonly url: string | null;
    /** The gateway's own key; null when each client sends its own. */
    readonly apiKey: string | null;
    readonly apiKeyHeader: string;
    readonly timeoutMs: number;
    readonly connections: number;
    /** Rate limit for requests to upstream, in requests a second; null for none. */
    readonly perSecond: number | null;
  };
  /** The chains that this process indexes itself, and how; null where it does not. */
  readonly indexed: IndexedConfig | null;
  readonly auth: AuthConfig;
  readonly allowedOrigins: readonly string[];
  /** Addresses of proxies whose forwarded headers name the client, and networks of them. */
  readonly trustedProxies: readonly string[];
  /** Null stands for `http://HOST:PORT` with the port that was bound. */
  readonly publicUrl: string | null;
  readonly deliveries: {
    /** The first signs delivery URLs, and each verifies them. Null: the secret is created once, and kept. */
    readonly secrets: readonly [string, ...string[]] | null;
    /** The versions of tenants' delivery URLs, by the tenant as it stands in the path. */
    readonly urlVersions: ReadonlyMap<string, readonly number[]>;
    /** Null when deliveries need no signature. */
    readonly signature: {
      /** In lower case. Null stands for the header whose name ends in `webhook-signature`. */
      readonly header: string | null;
      readonly secrets: readonly string[];
    } | null;
    readonly retentionHours: number;
    readonly retentionCount: number;
    /** Of all tenants together; null for no limit. */
    readonly retentionTotal: number | null;
    readonly dataDir: string;
  };
  /** Where many gateways keep what they share; null when this one is alone. */
  readonly redis: RedisConfig | null;
  readonly cache: {
    readonly headMs: number;
    readonly tailMs: number;
    readonly staleMs: number;
    /** As `headMs`, by the names of the lookups that have a variable of their own. */
    readonly newestMs: { readonly [lookup: string]: number };
    /** As `headMs`, for a wallet's newest page of transactions while its transactions are delivered here. */
    readonly watchedMs: number;
    readonly maxMb: number;
  };
  /** Chains in addition to those that the gateway knows. */
  readonly extraChains: readonly Chain[];
  readonly maxSockets: number;
  /** How many processes listen on the port; `auto` for one a core. Each of several is a gateway of its own. */
  readonly workers: number | 'auto';
  readonly shutdown: ShutdownTimes & {
    /** Whether the notice is given even where readiness is not polled. */
    readonly alwaysNotices: boolean;
  };
  /** The most wallets that one tenant may watch. */
  readonly maxWatchedWallets: number;
  /** The largest answer, or event of a subscription. */
  readonly maxAnswerMb: number;
  readonly cost: {
    /** The highest cost of one operation, which is estimated before it runs. */
    readonly maxComputeUnits: number;
    /** The budget of each client; null for none. */
    readonly clientComputeUnitsPerMinute: number | null;
    /** How many chains upstream's default tag is assumed to have. */
    readonly defaultChainCount: number;
  };
  /** The path of a JSON file of documents by their SHA-256 in hex; null when any document may run. */
  readonly trustedDocuments: string | null;
  /** Null where agents get no tools. */
  readonly mcp: McpConfig | null;
  readonly production: boolean;
  /** The page at `/`. */
  readonly console: {
    readonly isOn: boolean;
    /** Whether it may load collectibles' pictures from other hosts. */
    readonly images: boolean;
  };
  /** Whether answers are compressed for clients that accept it. */
  readonly compression: boolean;
  readonly metrics: MetricsConfig;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** Where traces are exported to; null when none are made. */
  readonly traces: TracesConfig | null;
  readonly sandboxBlockMs: number;
};

/** The longest part of a shutdown: ten minutes. */
const MAX_SHUTDOWN_MS = 600_000;

/** The longest freshness of a cached page: a day. */
const MAX_FRESH_MS = 86_400_000;

/** Lists every problem of an environment. Each names its variable and, unless that is a secret, its value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration has problems:', ...problems].join('\n  '));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Fewer characters could be guessed from a delivery URL. */
const MIN_DELIVERY_SECRET = 16;

/** Reads single variables, and adds what is wrong with them to `problems`. */
const readerOf =
  (env: Environment, problems: string[]): Read =>
  (name, schema, expected, secret = false) => {
    const text = env[name];
    if (text === undefined || text === '') return null;
    const result = schema.safeParse(text);
    if (result.success) return result.data;
    problems.push(`${name}: expected ${expected}, got ${secret ? 'something else' : JSON.stringify(text)}`);
    return null;
  };

/** Where the delivery log is. Throws ConfigError, for these variables alone. */
export const readLogPlace = (
  env: Environment,
): { readonly redis: RedisConfig | null; readonly dataDir: string } => {
  const problems: string[] = [];
  const redis = readRedis(env, readerOf(env, problems), problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return { redis, dataDir: dataDirOf(env) };
};

const dataDirOf = (env: Environment): string => env.DATA_DIR || './data';

/** Reads the settings from the environment. An empty variable counts as not set. Throws ConfigError. */
export const readConfig = (env: Environment): Config => {
  const problems: string[] = [];
  const read = readerOf(env, problems);
  const integer = (name: Variable, otherwise: number, min: number, max: number): number =>
    read(name, integerIn(min, max), `an integer from ${min} to ${max}`) ?? otherwise;
  const onOff = (name: Variable): boolean | null => {
    const text = read(name, z.enum(['on', 'off']), 'on or off');
    return text === null ? null : text === 'on';
  };

  const upstreamUrl = read(
    'UPSTREAM_URL',
    httpUrl,
    'an http or https URL without credentials, query or fragment',
    true,
  );
  const apiKey = read('UPSTREAM_API_KEY', headerValue, 'printable characters without spaces', true);
  const host = env.HOST || '127.0.0.1';
  const signatureSecrets = read('DELIVERY_SIGNATURE_SECRET', commaList, 'secrets, comma-separated', true);
  const signatureHeader = read('DELIVERY_SIGNATURE_HEADER', headerName, 'the name of an HTTP header');
  checkSandbox(env, read, problems);
  const indexed = readIndexed(env, problems);
  const headMs = integer('CACHE_HEAD_MS', 2000, 0, MAX_FRESH_MS);
  if (env.DELIVERY_SIGNATURE_HEADER && !env.DELIVERY_SIGNATURE_SECRET)
    problems.push('DELIVERY_SIGNATURE_HEADER: expected DELIVERY_SIGNATURE_SECRET beside it, got none');

  const config: Config = {
    host,
    port: integer('PORT', 4000, 0, 65_535),
    upstream: {
      url: upstreamUrl,
      apiKey,
      apiKeyHeader:
        read('UPSTREAM_API_KEY_HEADER', headerName, 'the name of an HTTP header') ?? 'X-Service-Api-Key',
      timeoutMs: integer('UPSTREAM_TIMEOUT_MS', 10_000, 1, 600_000),
      connections: integer('UPSTREAM_CONNECTIONS', 128, 1, 10_000),
      perSecond: read('UPSTREAM_RPS', integerIn(1, 100_000), 'an integer from 1 to 100000'),
    },
    indexed,
    auth: readAuth(env, { host, upstreamUrl, apiKey }, read, problems),
    allowedOrigins: read('ALLOWED_ORIGINS', origins, 'origins (scheme://host[:port]), comma-separated') ?? [],
    trustedProxies:
      read('TRUSTED_PROXIES', networks, 'IP addresses or networks (10.0.0.0/8), comma-separated') ?? [],
    publicUrl: read(
      'PUBLIC_URL',
      httpUrl,
      'an http or https URL without credentials, query or fragment',
      true,
    ),
    deliveries: {
      secrets: read(
        'DELIVERY_SECRET',
        secretsOf((secret) => secret.length >= MIN_DELIVERY_SECRET),
        `a secret, or two, comma-separated, of at least ${MIN_DELIVERY_SECRET} characters each (a comma always separates two)`,
        true,
      ),
      urlVersions:
        read(
          'DELIVERY_URL_VERSIONS',
          urlVersions,
          'versions of delivery URLs, comma-separated: tenant=2, or tenant=2+1 while version 1 is replaced',
        ) ?? new Map(),
      signature: signatureSecrets && {
        header: signatureHeader?.toLowerCase() ?? null,
        secrets: signatureSecrets,
      },
      retentionHours: integer('DELIVERY_RETENTION_HOURS', 168, 1, 876_000),
      retentionCount: integer('DELIVERY_RETENTION_COUNT', 1_000_000, 1, 1_000_000_000),
      retentionTotal: read(
        'DELIVERY_RETENTION_TOTAL',
        integerIn(1, 1_000_000_000_000),
        'an integer from 1 to 1000000000000',
      ),
      dataDir: dataDirOf(env),
    },
    redis: readRedis(env, read, problems),
    cache: {
      headMs,
      tailMs: integer('CACHE_TAIL_MS', 60_000, 0, MAX_FRESH_MS),
      staleMs: integer('CACHE_STALE_MS', 300_000, 0, MAX_FRESH_MS),
      newestMs: Object.fromEntries(
        LOOKUP_VARIABLES.map(({ lookup, timesHead, variable }) => [
          lookup,
          integer(variable, headMs * timesHead, 0, MAX_FRESH_MS),
        ]),
      ),
      watchedMs: integer('CACHE_WATCHED_MS', 30_000, 0, MAX_FRESH_MS),
      maxMb: integer('CACHE_MAX_MB', 256, 0, 1_000_000),
    },
    cost: {
      maxComputeUnits: integer('MAX_COMPUTE_UNITS', 500, 1, 1_000_000_000),
      clientComputeUnitsPerMinute: read(
        'CLIENT_COMPUTE_UNITS_PER_MINUTE',
        integerIn(1, 1_000_000_000),
        'an integer from 1 to 1000000000',
      ),
      defaultChainCount: integer('DEFAULT_CHAIN_COUNT', indexed?.chains.length ?? 14, 1, 10_000),
    },
    extraChains:
      read('EXTRA_CHAINS', extraChains, 'id:name[:tag…], comma-separated, each id and name once') ?? [],
    maxAnswerMb: integer('MAX_ANSWER_MB', 32, 1, 256),
    maxSockets: integer('MAX_SOCKETS', 20_000, 1, 1_000_000),
    workers: readWorkers(env, read, problems),
    shutdown: {
      noticeMs: integer('NOTICE_MS', SHUTDOWN_TIMES.noticeMs, 0, MAX_SHUTDOWN_MS),
      drainMs: integer('DRAIN_MS', SHUTDOWN_TIMES.drainMs, 0, MAX_SHUTDOWN_MS),
      alwaysNotices: Boolean(env.NOTICE_MS),
    },
    maxWatchedWallets: integer('MAX_WATCHED_WALLETS', 100, 1, 2000),
    trustedDocuments: env.TRUSTED_DOCUMENTS || null,
    mcp: readMcp(env, read, problems),
    production: env.NODE_ENV === 'production',
    console: {
      isOn: onOff('CONSOLE') ?? (env.NODE_ENV !== 'production' && !env.TRUSTED_DOCUMENTS),
      images: onOff('CONSOLE_IMAGES') ?? true,
    },
    compression: onOff('COMPRESSION') ?? true,
    metrics: readMetrics(read),
    logLevel: read('LOG_LEVEL', z.enum(LOG_LEVELS), `one of ${LOG_LEVELS.join(', ')}`) ?? 'info',
    logFormat: read('LOG_FORMAT', z.enum(LOG_FORMATS), `one of ${LOG_FORMATS.join(', ')}`) ?? 'json',
    traces: readTraces(env, read, problems),
    sandboxBlockMs: integer('SANDBOX_BLOCK_MS', 2000, 10, 3_600_000),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
};

/** More than the cores of any machine. */
const MAX_WORKERS = 1024;

/** Several workers share a log, which only Redis can hold for them, and one service. */
const readWorkers = (env: Environment, read: Read, problems: string[]): Config['workers'] => {
  const expected = `auto or an integer from 1 to ${MAX_WORKERS}`;
  const workers = read('WORKERS', z.union([z.literal('auto'), integerIn(1, MAX_WORKERS)]), expected) ?? 1;
  if (workers === 1) return workers;
  if (!env.REDIS_URL)
    problems.push(
      `WORKERS: expected REDIS_URL beside it when it is ${workers}, got none: workers share its log`,
    );
  else if (!env.UPSTREAM_URL && !env.CHAINS)
    problems.push(
      `WORKERS: expected UPSTREAM_URL beside it when it is ${workers}, got none: each worker would start a sandbox of its own, where \`npm run sandbox\` starts one for all`,
    );
  return workers;
};

const readIndexed = (env: Environment, problems: string[]): IndexedConfig | null => {
  const { config, problems: found } = readIndexedConfig(env);
  problems.push(...found);
  if (env.CHAINS && env.REDIS_URL)
    problems.push(
      'REDIS_URL: expected UPSTREAM_URL beside it, of one service that `npm run service` starts for all gateways, got CHAINS, which each would index for itself',
    );
  if (env.CHAINS && env.DELIVERY_SIGNATURE_HEADER)
    problems.push(
      'DELIVERY_SIGNATURE_HEADER: expected none beside CHAINS, whose index has a header of its own, got one',
    );
  return config;
};

/**
 * Without UPSTREAM_URL and CHAINS the sandbox replaces upstream. In production a missing UPSTREAM_URL is more likely a mistake, which
 * would show simulated wallets to real users: there SANDBOX=on must ask for the sandbox.
 */
const checkSandbox = (env: Environment, read: Read, problems: string[]): void => {
  const sandbox = read('SANDBOX', z.enum(['on', 'off']), 'on or off');
  const others = (['UPSTREAM_URL', 'CHAINS'] as const).filter((name) => env[name]);
  if (others.length > 1) problems.push('CHAINS: expected no UPSTREAM_URL beside it, got both');
  if (others.length > 0) {
    if (sandbox === 'on')
      problems.push(`SANDBOX: expected no ${others.join(' and no ')} beside it when it is on, got both`);
    return;
  }
  const isProduction = env.NODE_ENV === 'production';
  if (sandbox === 'off' || (sandbox === null && isProduction && !env.SANDBOX))
    problems.push(
      `UPSTREAM_URL: expected the URL of upstream, or CHAINS, when ${sandbox === 'off' ? 'SANDBOX is off' : 'NODE_ENV is production'}, got none; SANDBOX=on asks for the sandbox`,
    );
};
