import { ConfigError } from '../config/config.ts';
import { FeedCache } from '../deliveries/feed/cache.ts';
import { ChangeNotifier } from '../deliveries/feed/change-notifier.ts';
import { createDeliveryUrls, type DeliveryUrls } from '../deliveries/ingress/delivery-url.ts';
import { DeliverySecretError, loadDeliverySecret } from '../deliveries/ingress/secret.ts';
import { LogOpenError, LogUnavailableError } from '../deliveries/log/errors.ts';
import type { DeliveryLog } from '../deliveries/log/log.ts';
import { observeLog } from '../deliveries/log/observer.ts';
import { openRedisLog } from '../deliveries/redis/log.ts';
import { sharedSecret, shareSettings } from '../deliveries/redis/shared-settings.ts';
import { openSqliteLog } from '../deliveries/sqlite/log.ts';
import { messageOf } from '../lib/error-text.ts';
import { settlesWithin } from '../lib/scheduling/task-tracker.ts';
import { RedisReplyError, RedisUnavailableError } from '../redis/errors.ts';
import type { Redis } from './redis.ts';
import type { Startup } from './startup.ts';

/** The delivery log, and what its readers share. */
export type Deliveries = {
  readonly log: DeliveryLog;
  readonly changeNotifier: ChangeNotifier;
  readonly feedCache: FeedCache;
  readonly deliveryUrls: DeliveryUrls;
  /** Makes delivery URLs, cursors, and the tenants of keys. */
  readonly secret: string;
};

/** The cache of recently executed events, which subscribers that are a little behind read. */
const FEED_CACHE_BYTES = 32 * 1024 * 1024;

/** Opens the log in Redis, or else in DATA_DIR. Rejects with ConfigError when that is not possible. */
export const startDeliveries = async (startup: Startup, redis: Redis | null): Promise<Deliveries> => {
  const { log: opened, secret } =
    redis === null ? await openInFolder(startup) : await openInRedis(startup, redis);
  const deliveryLog = observeLog(opened, startup.telemetry.log);
  startup.opened.defer(() => closeWithin(startup, deliveryLog));
  return {
    log: deliveryLog,
    changeNotifier: new ChangeNotifier(deliveryLog),
    feedCache: new FeedCache(FEED_CACHE_BYTES),
    deliveryUrls: createDeliveryUrls(secret),
    secret,
  };
};

type OpenedLog = Pick<Deliveries, 'log' | 'secret'>;

/** Rejects with ConfigError when the folder can't be created, read or written. */
const openInFolder = async (startup: Startup): Promise<OpenedLog> => {
  const { deliveries } = startup.config;
  try {
    const secret = deliveries.secret ?? (await loadDeliverySecret(deliveries.dataDir));
    const observer = startup.telemetry.log;
    const retentionObserver = startup.telemetry.retention;
    const monotonic = startup.now;
    return { secret, log: await openSqliteLog({ ...deliveries, monotonic, retentionObserver, observer }) };
  } catch (error) {
    if (error instanceof DeliverySecretError || error instanceof LogOpenError)
      throw new ConfigError([`DATA_DIR: ${error.message}`]);
    throw error;
  }
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
    const secret = config.deliveries.secret ?? (await sharedSecret(connection));
    const differences = await shareSettings(connection, { secret, ...retention });
    if (differences.length > 0)
      log.warn('another gateway on this Redis was started with other settings', { differences });
    return {
      secret,
      log: await openRedisLog({
        ...retention,
        redis: connection,
        writer,
        minReplicas,
        monotonic: startup.now,
        retentionObserver: startup.telemetry.retention,
        onMended: (tenant, problem) => log.warn('delivery log: damage of a tenant', { tenant, problem }),
      }),
    };
  } catch (error) {
    if (isRedisFailure(error)) throw new ConfigError([`REDIS_URL: ${messageOf(error)}`]);
    throw error;
  }
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
