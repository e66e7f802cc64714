import { readLogPlace } from '../config/config.ts';
import { withoutAccess } from '../config/kinds.ts';
import type { Environment } from '../config/variable.ts';
import { type KeptSecrets, keepSecrets, readKeptSecrets } from '../deliveries/ingress/delivery-url.ts';
import { LogTransferError } from '../deliveries/log/copy.ts';
import type { OfflineLog, TenantReader } from '../deliveries/log/offline-log.ts';

/** Where a log is: a folder, or URLs of Redis. */
export type LogPlace = ReturnType<typeof readLogPlace>;

/** A log for work on all of it, and the secrets that are kept beside it. */
export type OpenedPlace = {
  readonly log: OfflineLog;
  readSecrets(): Promise<KeptSecrets>;
  keepSecrets(secrets: KeptSecrets): Promise<void>;
};

/**
 * Reads where a log is from an argument: DATA_DIR or REDIS_URL for the value of that variable, so that no password is among
 * the arguments, else URLs of Redis, else a folder. Throws ConfigError.
 */
export const placeOf = (text: string, env: Environment): LogPlace => {
  if (text === 'DATA_DIR') return readLogPlace({ ...env, REDIS_URL: '', REDIS_MIN_REPLICAS: '' });
  if (text !== 'REDIS_URL' && !/^rediss?(?:\+sentinel)?:/.test(text)) return readLogPlace({ DATA_DIR: text });
  const place = readLogPlace(text === 'REDIS_URL' ? env : { ...env, REDIS_URL: text });
  if (place.redis === null) throw new LogTransferError('REDIS_URL: expected a URL of Redis, got none');
  return place;
};

type Options = {
  /** Whether a place without a log may become one. */
  readonly creates: boolean;
  /** Whether gateways may use it meanwhile. Those on Redis may; a folder is always locked against them. */
  readonly besideGateways: boolean;
};

/** Opens the log at a place; `opened` closes it. Rejects with LogOpenError, LogUnavailableError, or an error of Redis. */
export const openPlace = async (
  { redis: settings, dataDir }: LogPlace,
  { creates, besideGateways }: Options,
  opened: AsyncDisposableStack,
): Promise<OpenedPlace> => {
  if (settings === null) {
    const { openOfflineSqliteLog } = await import('../deliveries/sqlite/offline-log.ts');
    const log = await openOfflineSqliteLog(dataDir, creates);
    opened.defer(() => log.close());
    return {
      log,
      readSecrets: () => readKeptSecrets(dataDir),
      keepSecrets: (secrets) => keepSecrets(dataDir, secrets),
    };
  }
  // A log in a folder needs no client of Redis.
  const [{ connectRedis }, { checkNoGateways, wholeRedisLog }, secrets] = await Promise.all([
    import('../redis/connection.ts'),
    import('../deliveries/redis/offline-log.ts'),
    import('../deliveries/redis/shared-secret.ts'),
  ]);
  const { urls, minReplicas } = settings;
  const redis = await connectRedis({ urls, times: { commandMs: COMMAND_MS } });
  opened.defer(() => redis.close());
  const name = urls.map(withoutAccess).join(',');
  if (!besideGateways) await checkNoGateways(redis, name);
  return {
    log: wholeRedisLog({ redis, name, minReplicas }),
    readSecrets: () => secrets.readKeptSecrets(redis),
    keepSecrets: (kept) => secrets.keepSecrets(redis, kept),
  };
};

/** Opens the log at a place to read deliveries of tenants, while gateways may use it; `opened` closes it. Rejects as `openPlace`. */
export const openReader = async (place: LogPlace, opened: AsyncDisposableStack): Promise<TenantReader> => {
  if (place.redis !== null)
    return (await openPlace(place, { creates: false, besideGateways: true }, opened)).log;
  const { readOfflineSqliteLog } = await import('../deliveries/sqlite/offline-log.ts');
  const log = await readOfflineSqliteLog(place.dataDir);
  opened.defer(() => log.close());
  return log;
};

/** Nobody waits for an answer, and a busy Redis may take long. */
const COMMAND_MS = 30_000;
