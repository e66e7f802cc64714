import { type Config, ConfigError } from '../config/config.ts';
import type { Variable } from '../config/environment.ts';
import { messageOf } from '../lib/errors.ts';
import { type RedisReply, RedisReplyError, RedisUnavailableError } from '../redis/client.ts';
import { connectRedis, type RedisConnection } from '../redis/connection.ts';
import { type Invalidations, openInvalidations } from '../redis/invalidations.ts';
import { openSharedLimits, type SharedLimits } from '../redis/limits.ts';
import { createNames } from '../redis/names.ts';
import { openSharedPages } from '../redis/pages.ts';
import { SHARED_TIMES, type SharedObserver, type SharedTimes } from '../redis/run.ts';
import type { InvalidationBus } from '../upstream/cache/entries.ts';
import type { SharedPages } from '../upstream/cache/single-flight.ts';
import type { Startup } from './startup.ts';

/** The Redis that all gateways share. */
export type Redis = {
  readonly connection: RedisConnection;
  /** For writes that wait for replicas, because whatever is sent over the same connection waits, too. */
  readonly writer: RedisConnection;
  readonly minReplicas: number;
};

/**
 * Where Redis is, and what it has to keep. Import this module where there are such settings: a gateway without Redis does not
 * load its client.
 */
type Settings = NonNullable<Config['redis']>;

/**
 * Connects to the Redis of REDIS_URL. Rejects with ConfigError when it can't be reached, or may lose what it acknowledges
 * while REDIS_DURABILITY is `strict`.
 */
export const startRedis = async (
  startup: Startup,
  { urls, durability, minReplicas }: Settings,
): Promise<Redis> => {
  const connect = async (): Promise<RedisConnection> => {
    const { redis: observe, redisCommands } = startup.telemetry;
    const observer = { ...redisCommands, ...observe('REDIS_URL') };
    const connection = await connectRedis({ urls, times: startup.times.redis, observer });
    startup.opened.defer(() => connection.close());
    return connection;
  };
  try {
    const connection = await connect();
    await checkStartSettings(startup, connection, durability);
    return { connection, writer: minReplicas === 0 ? connection : await connect(), minReplicas };
  } catch (error) {
    if (error instanceof RedisUnavailableError) throw new ConfigError([`REDIS_URL: ${messageOf(error)}`]);
    throw error;
  }
};

const checkStartSettings = async (
  { log }: Startup,
  connection: RedisConnection,
  durability: 'strict' | 'relaxed',
): Promise<void> => {
  const version = await oldVersion(connection);
  if (version !== null) throw new ConfigError([`REDIS_URL: expected Redis 7 or later, got ${version}`]);
  const { problems, unreadable } = await checkDurability(connection);
  if (unreadable !== null) log.warn('Redis does not show how durable it is', { error: unreadable });
  if (problems.length > 0 && durability === 'strict')
    throw new ConfigError(
      problems.map((problem) => `REDIS_URL: ${problem}; REDIS_DURABILITY=relaxed accepts the loss`),
    );
};

/** The page cache of all gateways. */
export type SharedCache = { readonly pages: SharedPages; readonly invalidations: Invalidations };

type Parts = {
  /** Makes the keys of shared values, which reveal nothing. */
  readonly secret: string;
  /** Gateways of other base URLs or keys of upstream share nothing with this one. */
  readonly upstreamUrl: string;
  readonly gatewayKey: string | null;
  readonly memory: InvalidationBus;
};

/** Connects to the Redis of pages; null where none are cached. Rejects with ConfigError when it can't be reached. */
export const startSharedPages = async (
  startup: Startup,
  { cacheUrls, urls }: Settings,
  parts: Parts,
): Promise<SharedCache | null> => {
  const { headMs, tailMs, staleMs, newestMs, maxMb } = startup.config.cache;
  const ttlMs = Math.max(staleMs, ...[headMs, tailMs, ...Object.values(newestMs)].map((ms) => 2 * ms));
  if (ttlMs === 0 || maxMb === 0) return null;
  const variable = cacheUrls === urls ? 'REDIS_URL' : 'REDIS_CACHE_URL';
  return connectFor(startup, variable, cacheUrls, (redis, observer, { leaseMs }) =>
    openPages(redis, parts, { ttlMs, maxBytes: maxMb * 1024 * 1024, leaseMs, observer }),
  );
};

/** Connects to the Redis of limits. Rejects with ConfigError when it can't be reached. */
export const startSharedLimits = async (
  startup: Startup,
  { urls }: Settings,
  parts: Pick<Parts, 'secret' | 'upstreamUrl'>,
): Promise<SharedLimits> =>
  connectFor(startup, 'REDIS_URL', urls, (redis, observer) =>
    openSharedLimits({ ...parts, redis, observer }),
  );

/**
 * A connection with short timeouts, except at the start. Large pages and the log's writes never hold up another connection.
 */
const connectFor = async <Opened>(
  { opened, times: changed, telemetry }: Startup,
  variable: Variable,
  urls: readonly string[],
  open: (redis: RedisConnection, observer: SharedObserver, times: SharedTimes) => Promise<Opened>,
): Promise<Opened> => {
  try {
    const observer = telemetry.redis(variable);
    const times = { ...SHARED_TIMES, ...changed.shared };
    const redis = await connectRedis({ urls, times, observer });
    opened.defer(() => redis.close());
    return await redis.prepare(() => open(redis, { ...telemetry.shared, ...observer }, times));
  } catch (error) {
    if (error instanceof RedisUnavailableError || error instanceof RedisReplyError)
      throw new ConfigError([`${variable}: ${messageOf(error)}`]);
    throw error;
  }
};

type Limits = Pick<Parameters<typeof openSharedPages>[0], 'ttlMs' | 'maxBytes' | 'leaseMs' | 'observer'>;

const openPages = async (redis: RedisConnection, parts: Parts, limits: Limits): Promise<SharedCache> => {
  const { secret, upstreamUrl, gatewayKey, memory } = parts;
  const names = createNames(secret, upstreamUrl, gatewayKey);
  const invalidations = await openInvalidations({ redis, names, memory, observer: limits.observer });
  return { invalidations, pages: await openSharedPages({ ...limits, redis, names, invalidations }) };
};

/** What a Redis needs so that it never loses what it has acknowledged, not even by a crash of its machine. */
const REQUIRED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
};

export type Durability = {
  /** Each setting that may lose what was acknowledged, with what was expected and what was found. */
  readonly problems: readonly string[];
  /** Why the settings can't be read, as is usual where Redis is a managed service; null when they were. */
  readonly unreadable: string | null;
};

/** Reads how safely Redis keeps what it acknowledges: of a Cluster, every primary. */
const checkDurability = async (redis: RedisConnection): Promise<Durability> => {
  try {
    const replies = await redis.sendToPrimaries(['CONFIG', 'GET', ...Object.keys(REQUIRED)]);
    const problems = replies.flatMap((reply) => problemsOf(settingsIn(reply)));
    return { problems: [...new Set(problems)], unreadable: null };
  } catch (error) {
    if (!(error instanceof RedisReplyError)) throw error;
    return { problems: [], unreadable: error.message };
  }
};

const MIN_VERSION = 7;

/** The oldest version among the Redis that hold keys when it is too old for the gateway; null otherwise, or if they hide it. */
const oldVersion = async (redis: RedisConnection): Promise<string | null> => {
  try {
    const replies = await redis.sendToPrimaries(['INFO', 'server']);
    const versions = replies.flatMap((reply) => /^redis_version:(\S+)/m.exec(String(reply))?.[1] ?? []);
    return versions.find((version) => Number.parseInt(version, 10) < MIN_VERSION) ?? null;
  } catch (error) {
    if (error instanceof RedisReplyError) return null;
    throw error;
  }
};

/** Names and values alternate. */
const settingsIn = (reply: RedisReply): ReadonlyMap<string, string> => {
  const texts = Array.isArray(reply) ? reply.map(String) : [];
  return new Map(texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : [])));
};

const problemsOf = (settings: ReadonlyMap<string, string>): string[] =>
  Object.entries(REQUIRED).flatMap(([name, expected]) => {
    const found = settings.get(name);
    return found === expected ? [] : [`expected ${name} ${expected}, got ${found ?? 'none'}`];
  });
