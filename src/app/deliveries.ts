import { ConfigError } from '../config/config.ts';
import type { ContextParts } from '../context.ts';
import { FeedCache } from '../deliveries/feed/cache.ts';
import { ChangeNotifier } from '../deliveries/feed/change-notifier.ts';
import {
  createDeliveryUrls,
  DeliverySecretError,
  loadDeliverySecret,
  loadIdentity,
} from '../deliveries/ingress/delivery-url.ts';
import { RefusedDeliveries } from '../deliveries/ingress/refused.ts';
import { LogOpenError } from '../deliveries/log/errors.ts';
import type { DeliveryLog } from '../deliveries/log/log.ts';
import { createReplayer } from '../deliveries/replay.ts';
import { messageOf } from '../lib/errors.ts';
import { closeToOthers } from '../lib/folders.ts';
import { settlesWithin } from '../lib/tasks.ts';
import type { OpenedLog } from './deliveries-in-redis.ts';
import type { Redis } from './redis.ts';
import type { Startup } from './startup.ts';

/** The delivery log, and what its readers share. */
export type Deliveries = ContextParts['deliveries'] & {
  readonly log: DeliveryLog;
  /** The secret that makes cursors, the tenants of keys, and the names of what gateways share. It is never replaced. */
  readonly identity: string;
  /** What readiness looks at in addition to the log. */
  readonly checks: OpenedLog['checks'];
};

/** The cache of recently executed events, which subscribers that are a little behind read. */
const FEED_CACHE_BYTES = 32 * 1024 * 1024;

/** Opens the log in Redis, or else in DATA_DIR. Rejects with ConfigError when that is not possible. */
export const startDeliveries = async (startup: Startup, redis: Redis | null): Promise<Deliveries> => {
  const { log, secrets, identity, checks } = await loadLog(startup, redis);
  startup.opened.defer(() => closeWithin(startup, log));
  return {
    log,
    changeNotifier: new ChangeNotifier(log),
    feedCache: new FeedCache(FEED_CACHE_BYTES),
    deliveryUrls: createDeliveryUrls(secrets, startup.config.deliveries.urlVersions),
    refused: new RefusedDeliveries(({ webhookId, status, reason, bytes, attempt }) =>
      startup.log.warn('delivery refused', { webhookId, status, problem: reason, bytes, attempt }),
    ),
    replayer: createReplayer({
      // A service of the gateway's own posts to any address as well.
      loadMayReach: async () =>
        startup.config.upstream.url === null
          ? () => true
          : (await import('../backend/public-address.ts')).isPublicAddress,
      onReplay: (to, count) => startup.log.info('deliveries replayed', { to, deliveries: count }),
    }),
    identity,
    checks,
  };
};

/** Loads what one of the two logs needs alone. */
const loadLog = async (startup: Startup, redis: Redis | null): Promise<OpenedLog> => {
  if (redis === null) return openInFolder(startup);
  const { openInRedis } = await import('./deliveries-in-redis.ts');
  return openInRedis(startup, redis);
};

/** Rejects with ConfigError when the folder can't be created, read or written. */
const openInFolder = async (startup: Startup): Promise<OpenedLog> => {
  const { deliveries } = startup.config;
  try {
    await closeFolder(startup);
    const { dataDir } = deliveries;
    const secrets = deliveries.secrets ?? ([await loadDeliverySecret(dataDir)] as const);
    const identity = await loadIdentity(dataDir, secrets);
    const observer = startup.telemetry.log;
    const retentionObserver = startup.telemetry.retention;
    const { now: monotonic } = startup;
    const openLog = startup.openLog ?? (await import('../deliveries/sqlite/log.ts')).openSqliteLog;
    const log = await openLog({ ...deliveries, monotonic, retentionObserver, observer });
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
const closeFolder = async ({ config, log: logger }: Startup): Promise<void> => {
  const { dataDir } = config.deliveries;
  const { closed, stillOpen } = await closeToOthers(dataDir, isOwnFile).catch((error: unknown) => {
    throw new LogOpenError(dataDir, messageOf(error), error);
  });
  if (closed.length + stillOpen.length > 0)
    logger.warn('other users could use files of DATA_DIR', { closed, stillOpen });
};

/**
 * Closes the log, and waits for that until the shutdown deadline. A slow disk does not fail the shutdown: every acknowledged
 * delivery is already durable, and the next start opens a log that was not closed.
 */
const closeWithin = async ({ log: logger, deadline }: Startup, log: DeliveryLog): Promise<void> => {
  const closed = log.close();
  if (await settlesWithin([closed], deadline.remainingMs())) return closed;
  logger.warn('delivery log not closed before the shutdown deadline');
};
