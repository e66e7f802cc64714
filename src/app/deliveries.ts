import { ConfigError } from '../config/config.ts';
import { FeedCache } from '../deliveries/feed/cache.ts';
import { ChangeNotifier } from '../deliveries/feed/change-notifier.ts';
import {
  createDeliveryUrls,
  DeliverySecretError,
  type DeliveryUrls,
  loadDeliverySecret,
  loadIdentity,
  newDeliverySecret,
} from '../deliveries/ingress/delivery-url.ts';
import { LogOpenError, LogUnavailableError } from '../deliveries/log/errors.ts';
import type { DeliveryLog } from '../deliveries/log/log.ts';
import { observeLog } from '../deliveries/log/observer.ts';
import { openRedisLog } from '../deliveries/redis/log.ts';
import { type SecretObserver, SharedSecret, shareSettings } from '../deliveries/redis/shared-secret.ts';
import { IDENTITY, SECRET } from '../deliveries/redis/store.ts';
import { openSqliteLog } from '../deliveries/sqlite/log.ts';
import { closeToOthers } from '../lib/private-files.ts';
import { settlesWithin } from '../lib/tasks.ts';
import { messageOf } from '../lib/values.ts';
import { RedisReplyError, RedisUnavailableError } from '../redis/client.ts';
import type { RedisConnection } from '../redis/connection.ts';
import type { ReadinessPart } from '../server/http/health.ts';
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
  readonly checks: readonly { readonly part: ReadinessPart; readonly run: () => Promise<void> }[];
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
    const identity = await loadIdentity(dataDir, secrets);
    const observer = startup.telemetry.log;
    const retentionObserver = startup.telemetry.retention;
    const { now: monotonic, openLog = openSqliteLog } = startup;
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
    const identity = await openIdentity(startup, connection, secrets);
    const differences = await shareSettings(connection, { secret: secrets[0], ...retention });
    if (differences.length > 0)
      log.warn('another gateway on this Redis was started with other settings', { differences });
    return {
      secrets,
      identity: identity?.value ?? secrets[0],
      checks: identity === null ? checks : [...checks, identity.check],
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
  const part = 'delivery secret';
  const shared = await SharedSecret.open(
    connection,
    SECRET,
    newDeliverySecret(),
    observerOf(startup, part, 'gateways answer 404 to the delivery URLs of others'),
  );
  const { value, check } = checked(startup, part, shared);
  return { secrets: [value], checks: [check] };
};

/**
 * What names and cursors are made with: the first secret of the installation. It is written down only once that is about to
 * be replaced, so that reading Redis does not reveal the only secret that signs. Null until then.
 */
const openIdentity = async (
  startup: Startup,
  connection: RedisConnection,
  [secret, next]: OpenedLog['secrets'],
): Promise<SharedValue | null> => {
  const part = 'identity';
  const observer = observerOf(startup, part, 'gateways do not know the cursors, keys and pages of others');
  const shared =
    next === undefined
      ? await SharedSecret.find(connection, IDENTITY, observer)
      : await SharedSecret.open(connection, IDENTITY, secret, observer);
  return shared && checked(startup, part, shared);
};

const observerOf = ({ log }: Startup, part: ReadinessPart, consequence: string): SecretObserver => ({
  differs: (error) => log.error(`Redis has another ${part}: ${consequence}`, { error: messageOf(error) }),
  agrees: () => log.info(`Redis has the ${part} of this gateway again`),
});

/** `part` is what readiness calls it. */
type SharedValue = { readonly value: string; readonly check: Check };

const checked = ({ opened }: Startup, part: ReadinessPart, shared: SharedSecret): SharedValue => {
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
