import { ConfigError } from '../config/config.ts';
import { FeedCache } from '../deliveries/feed/cache.ts';
import { ChangeNotifier } from '../deliveries/feed/change-notifier.ts';
import { createDeliveryUrls, type DeliveryUrls } from '../deliveries/ingress/delivery-url.ts';
import {
  DeliverySecretError,
  loadDeliverySecret,
  loadIdentity,
  newDeliverySecret,
} from '../deliveries/ingress/secret.ts';
import { LogOpenError, LogUnavailableError } from '../deliveries/log/errors.ts';
import type { DeliveryLog } from '../deliveries/log/log.ts';
import { observeLog } from '../deliveries/log/observer.ts';
import { IDENTITY, SECRET } from '../deliveries/redis/keys.ts';
import { openRedisLog } from '../deliveries/redis/log.ts';
import { SharedSecret } from '../deliveries/redis/shared-secret.ts';
import { shareSettings } from '../deliveries/redis/shared-settings.ts';
import { openSqliteLog } from '../deliveries/sqlite/log.ts';
import { messageOf } from '../lib/error-text.ts';
import { closeToOthers } from '../lib/private-files.ts';
import { settlesWithin } from '../lib/scheduling/task-tracker.ts';
import type { RedisConnection } from '../redis/connection.ts';
import { RedisReplyError, RedisUnavailableError } from '../redis/errors.ts';
import type { Redis } from './redis.ts';
import type { Startup } from './startup.ts';

/** The delivery log, and what its readers share. */
export type Deliveries = {
  readonly log: DeliveryLog;
  readonly changeNotifier: ChangeNotifier;
  readonly feedCache: FeedCache;
  readonly deliveryUrls: DeliveryUrls;
  /** The secret that makes cursors, the tenants of keys, and the names of what gateways share. It is never replaced. */
  readonly identity: string;
  /** What readiness looks at beside the log. */
  readonly checks: readonly { readonly part: string; readonly run: () => Promise<void> }[];
};

/** The cache of recently executed events, which subscribers that are a little behind read. */
const FEED_CACHE_BYTES = 32 * 1024 * 1024;

/** Opens the log in Redis, or else in DATA_DIR. Rejects with ConfigError when that is not possible. */
export const startDeliveries = async (startup: Startup, redis: Redis | null): Promise<Deliveries> => {
  const {
    log: opened,
    secrets,
    identity,
    checks,
  } = redis === null ? await openInFolder(startup) : await openInRedis(startup, redis);
  const deliveryLog = observeLog(opened, startup.telemetry.log);
  startup.opened.defer(() => closeWithin(startup, deliveryLog));
  return {
    log: deliveryLog,
    changeNotifier: new ChangeNotifier(deliveryLog),
    feedCache: new FeedCache(FEED_CACHE_BYTES),
    deliveryUrls: createDeliveryUrls(secrets, startup.config.deliveries.urlVersions),
    identity,
    checks,
  };
};

type OpenedLog = Pick<Deliveries, 'log' | 'identity' | 'checks'> & {
  /** The first signs delivery URLs, and each verifies them. */
  readonly secrets: readonly [string, ...string[]];
};

/** Rejects with ConfigError when the folder can't be created, read or written. */
const openInFolder = async (startup: Startup): Promise<OpenedLog> => {
  const { deliveries } = startup.config;
  try {
    await closeFolder(startup);
    const { dataDir } = deliveries;
    const secrets = deliveries.secrets ?? ([await loadDeliverySecret(dataDir)] as const);
    const identity = await loadIdentity(dataDir, secrets[0]);
    const observer = startup.telemetry.log;
    const retentionObserver = startup.telemetry.retention;
    const monotonic = startup.now;
    const log = await openSqliteLog({ ...deliveries, monotonic, retentionObserver, observer });
    return { secrets, identity, checks: [], log };
  } catch (error) {
    if (error instanceof DeliverySecretError || error instanceof LogOpenError)
      throw new ConfigError([`DATA_DIR: ${error.message}`]);
    throw error;
  }
};

/** The log's files, those beside it, the secret and the identity. */
const isOwnFile = (name: string): boolean =>
  /^(?:deliveries\.(?:db|lock)|delivery-(?:secret|identity))(?![a-z])/.test(name);

/** What was readable may have been read: the log holds what was delivered, and the secret makes delivery URLs. */
const closeFolder = async ({ config, log }: Startup): Promise<void> => {
  const { dataDir } = config.deliveries;
  const { closed, stillOpen } = await closeToOthers(dataDir, isOwnFile).catch((error: unknown) => {
    throw new LogOpenError(dataDir, messageOf(error), error);
  });
  if (closed.length + stillOpen.length > 0)
    log.warn('other users could use files of DATA_DIR', { closed, stillOpen });
};

/** Rejects with ConfigError when Redis fails meanwhile. */
const openInRedis = async (
  startup: Startup,
  { connection, writer, minReplicas }: Redis,
): Promise<OpenedLog> => {
  const { config, log } = startup;
  const { retentionHours, retentionCount } = config.deliveries;
  const retention = { retentionHours, retentionCount };
  try {
    const { secrets, checks } = await openSecrets(startup, connection);
    const identity = await openShared(startup, connection, {
      part: 'identity',
      differs:
        'Redis has another identity: gateways do not know the cursors, the keys and the pages of others',
      key: IDENTITY,
      initial: secrets[0],
    });
    const differences = await shareSettings(connection, { secret: secrets[0], ...retention });
    if (differences.length > 0)
      log.warn('another gateway on this Redis was started with other settings', { differences });
    return {
      secrets,
      identity: identity.value,
      checks: [...checks, identity.check],
      log: await openRedisLog({
        ...retention,
        redis: connection,
        writer,
        minReplicas,
        monotonic: startup.now,
        retentionObserver: startup.telemetry.retention,
        onLost: () =>
          log.warn('Redis has lost the delivery log, or has another one: cursors of before expire'),
        onMended: (tenant, problem) => log.warn('delivery log: damage of a tenant', { tenant, problem }),
      }),
    };
  } catch (error) {
    if (isRedisFailure(error)) throw new ConfigError([`REDIS_URL: ${messageOf(error)}`]);
    throw error;
  }
};

type Check = Deliveries['checks'][number];

/** The secrets of DELIVERY_SECRET, or else the one that all gateways on this Redis share. */
const openSecrets = async (
  startup: Startup,
  connection: RedisConnection,
): Promise<Pick<OpenedLog, 'secrets' | 'checks'>> => {
  const { secrets } = startup.config.deliveries;
  if (secrets !== null) return { secrets, checks: [] };
  const { value, check } = await openShared(startup, connection, {
    part: 'delivery secret',
    differs: 'Redis has another delivery secret: gateways answer 404 to the delivery URLs of others',
    key: SECRET,
    initial: newDeliverySecret(),
  });
  return { secrets: [value], checks: [check] };
};

type SharedValue = {
  /** What readiness calls it. */
  readonly part: string;
  /** The line that says that Redis has another one. */
  readonly differs: string;
  readonly key: string;
  readonly initial: string;
};

const openShared = async (
  { log, opened }: Startup,
  connection: RedisConnection,
  { part, differs, key, initial }: SharedValue,
): Promise<{ readonly value: string; readonly check: Check }> => {
  const shared = await SharedSecret.open(connection, key, initial, {
    differs: (error) => log.error(differs, { error: messageOf(error) }),
    agrees: () => log.info(`Redis has the ${part} of this gateway again`),
  });
  opened.defer(() => shared.close());
  return { value: shared.value, check: { part, run: () => shared.check() } };
};

const isRedisFailure = (error: unknown): boolean =>
  error instanceof LogUnavailableError ||
  error instanceof RedisUnavailableError ||
  error instanceof RedisReplyError;

/**
 * Closes the log, and waits for that until the shutdown deadline. A slow disk is no failure of the shutdown: every
 * acknowledged delivery is durable already, and the next start opens a log that was not closed.
 */
const closeWithin = async ({ log, deadline }: Startup, deliveryLog: DeliveryLog): Promise<void> => {
  const closed = deliveryLog.close();
  if (await settlesWithin([closed], deadline.remainingMs())) return closed;
  log.warn('delivery log not closed before the shutdown deadline');
};
