import { z } from 'zod';
import type { Chain } from '../chains/known-chains.ts';
import { LOG_LEVELS, type LogLevel } from '../logger.ts';
import { type AuthConfig, readAuth } from './auth.ts';
import { extraChains } from './chains.ts';
import type { Environment, Read, Variable } from './environment.ts';
import { checkSandbox } from './sandbox.ts';

/** What the environment asks for; docs/configuration.md has the table. */
export type Config = {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly upstream: {
    /** Without a trailing slash; null starts the sandbox in this process. */
    readonly url: string | null;
    /** The key that the gateway itself holds; null when clients bring their own. */
    readonly apiKey: string | null;
    readonly apiKeyHeader: string;
    readonly timeoutMs: number;
    readonly connections: number;
    /** Requests a second at most; null for as many as come. */
    readonly perSecond: number | null;
  };
  readonly auth: AuthConfig;
  readonly allowedOrigins: readonly string[];
  /** Null: `http://HOST:PORT` with the port that was bound. */
  readonly publicUrl: string | null;
  readonly deliveries: {
    /** Null: made once and kept in `dataDir`. */
    readonly secret: string | null;
    /** Null: deliveries need no signature. */
    readonly signature: {
      /** In lower case; null: the one whose name ends in `webhook-signature`. */
      readonly header: string | null;
      readonly secrets: readonly string[];
    } | null;
    readonly retentionHours: number;
    readonly retentionCount: number;
    readonly dataDir: string;
  };
  readonly cache: {
    readonly headMs: number;
    readonly tailMs: number;
    readonly staleMs: number;
    /** Of a wallet's newest page of collectibles. */
    readonly collectiblesMs: number;
    readonly maxMb: number;
  };
  /** Chains beside those that the gateway knows by itself. */
  readonly extraChains: readonly Chain[];
  readonly maxSockets: number;
  /** What one answer, or one event of a subscription, may weigh. */
  readonly maxAnswerMb: number;
  readonly cost: {
    /** Of one operation, estimated before it runs. */
    readonly maxComputeUnits: number;
    /** Null: clients may spend what they like. */
    readonly clientComputeUnitsPerMinute: number | null;
    /** What the service's default tag is taken to have. */
    readonly defaultChainCount: number;
  };
  /** The path of a file of `{sha256 hex: document}`; null when any document may run. */
  readonly trustedDocuments: string | null;
  readonly production: boolean;
  readonly logLevel: LogLevel;
  readonly sandboxBlockMs: number;
};

/** A day. */
const MAX_FRESH_MS = 86_400_000;

/** Collectibles change rarely, and their request costs a compute unit a chain: so much longer than transactions. */
const COLLECTIBLES_FRESHER = 15;

/** Every problem of an environment at once, each naming its variable and, unless it is a secret, what it got. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration has problems:', ...problems].join('\n  '));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Throws ConfigError. An empty variable counts as one that is not set. */
export const readConfig = (env: Environment): Config => {
  const problems: string[] = [];
  const read: Read = (name, schema, expected, secret = false) => {
    const text = env[name];
    if (text === undefined || text === '') return null;
    const result = schema.safeParse(text);
    if (result.success) return result.data;
    problems.push(`${name}: expected ${expected}, got ${secret ? 'something else' : JSON.stringify(text)}`);
    return null;
  };
  const integer = (name: Variable, otherwise: number, min: number, max: number): number =>
    read(name, integerIn(min, max), `an integer from ${min} to ${max}`) ?? otherwise;

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
    auth: readAuth(env, { host, upstreamUrl, apiKey }, read, problems),
    allowedOrigins: read('ALLOWED_ORIGINS', origins, 'origins (scheme://host[:port]), comma-separated') ?? [],
    publicUrl: read(
      'PUBLIC_URL',
      httpUrl,
      'an http or https URL without credentials, query or fragment',
      true,
    ),
    deliveries: {
      secret: read('DELIVERY_SECRET', z.string().min(16), 'at least 16 characters', true),
      signature: signatureSecrets && {
        header: signatureHeader?.toLowerCase() ?? null,
        secrets: signatureSecrets,
      },
      retentionHours: integer('DELIVERY_RETENTION_HOURS', 168, 1, 876_000),
      retentionCount: integer('DELIVERY_RETENTION_COUNT', 1_000_000, 1, 1_000_000_000),
      dataDir: env.DATA_DIR || './data',
    },
    cache: {
      headMs,
      tailMs: integer('CACHE_TAIL_MS', 60_000, 0, MAX_FRESH_MS),
      staleMs: integer('CACHE_STALE_MS', 300_000, 0, MAX_FRESH_MS),
      collectiblesMs: integer('CACHE_COLLECTIBLES_MS', headMs * COLLECTIBLES_FRESHER, 0, MAX_FRESH_MS),
      maxMb: integer('CACHE_MAX_MB', 256, 0, 1_000_000),
    },
    cost: {
      maxComputeUnits: integer('MAX_COMPUTE_UNITS', 500, 1, 1_000_000_000),
      clientComputeUnitsPerMinute: read(
        'CLIENT_COMPUTE_UNITS_PER_MINUTE',
        integerIn(1, 1_000_000_000),
        'an integer from 1 to 1000000000',
      ),
      defaultChainCount: integer('DEFAULT_CHAIN_COUNT', 14, 1, 10_000),
    },
    extraChains:
      read('EXTRA_CHAINS', extraChains, 'id:name[:tag…], comma-separated, each id and name once') ?? [],
    maxAnswerMb: integer('MAX_ANSWER_MB', 32, 1, 256),
    maxSockets: integer('MAX_SOCKETS', 20_000, 1, 1_000_000),
    trustedDocuments: env.TRUSTED_DOCUMENTS || null,
    production: env.NODE_ENV === 'production',
    logLevel: read('LOG_LEVEL', z.enum(LOG_LEVELS), `one of ${LOG_LEVELS.join(', ')}`) ?? 'info',
    sandboxBlockMs: integer('SANDBOX_BLOCK_MS', 2000, 10, 3_600_000),
  };
  for (const name of UNSUPPORTED.filter((variable) => env[variable]))
    problems.push(`${name}: this version does not support it yet, and going on without it would not be safe`);
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
};

/** Who sets one of these counts on it. */
const UNSUPPORTED = ['REDIS_URL'] as const;

const integerIn = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

const httpUrl = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine((url) => !url.username && !url.password && !url.search && !url.hash)
  .transform((url) => url.href.replace(/\/+$/, ''));

/** Headers that the request needs for itself can't carry a key. */
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

const headerName = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/)
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()));

const headerValue = z.string().regex(/^[\x21-\x7e]{1,4096}$/);

const commaList = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.string()).min(1));

const origins = commaList.refine((list) =>
  list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
);
