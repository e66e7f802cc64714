import { ConfigError } from '../config/config.ts';
import { newDeliverySecret } from '../deliveries/ingress/delivery-url.ts';
import { LogUnavailableError } from '../deliveries/log/errors.ts';
import type { DeliveryLog } from '../deliveries/log/log.ts';
import { checkRedisLog, openRedisLog } from '../deliveries/redis/log.ts';
import { type SecretObserver, SharedSecret, shareSettings } from '../deliveries/redis/shared-secret.ts';
import { IDENTITY, SECRET } from '../deliveries/redis/store.ts';
import { messageOf } from '../lib/errors.ts';
import { RedisReplyError, RedisUnavailableError } from '../redis/client.ts';
import type { RedisConnection } from '../redis/connection.ts';
import type { ReadinessPart } from '../server/http/health.ts';
import type { Redis } from './redis.ts';
import type { Startup } from './startup.ts';

type Check = { readonly part: ReadinessPart; readonly run: () => Promise<void> };

/** An opened log, and what belongs to it. */
export type OpenedLog = {
  readonly log: DeliveryLog;
  /** See Deliveries. */
  readonly identity: string;
  readonly checks: readonly Check[];
  /** The first signs delivery URLs, and each verifies them. */
  readonly secrets: readonly [string, ...string[]];
};

/** Opens the log in Redis, and the secrets that gateways share there. Rejects with ConfigError when Redis fails meanwhile. */
export const openInRedis = async (
  startup: Startup,
  { connection, writer, minReplicas }: Redis,
): Promise<OpenedLog> => {
  const { config, log: logger } = startup;
  const { retentionHours, retentionCount, retentionTotal } = config.deliveries;
  const retention = { retentionHours, retentionCount, retentionTotal };
  try {
    // Before the gateway puts anything into this Redis.
    await checkRedisLog(connection);
    const { secrets, checks } = await openSecrets(startup, connection);
    const identity = await openIdentity(startup, connection, secrets);
    const differences = await shareSettings(connection, { secret: secrets[0], ...retention });
    if (differences.length > 0)
      logger.warn('another gateway on this Redis was started with other settings', { differences });
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
          logger.warn('Redis has lost the delivery log, or has another one: cursors of before expire'),
        onMended: (tenant, problem) => logger.warn('delivery log: damage of a tenant', { tenant, problem }),
      }),
    };
  } catch (error) {
    if (isRedisFailure(error)) throw new ConfigError([`REDIS_URL: ${messageOf(error)}`]);
    throw error;
  }
};

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

const observerOf = ({ log: logger }: Startup, part: ReadinessPart, consequence: string): SecretObserver => ({
  differs: (error) => logger.error(`Redis has another ${part}: ${consequence}`, { error: messageOf(error) }),
  agrees: () => logger.info(`Redis has the ${part} of this gateway again`),
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
