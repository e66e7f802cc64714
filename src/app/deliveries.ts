import { ConfigError } from '../config/config.ts';
import { FeedCache } from '../deliveries/feed/cache.ts';
import { ChangeNotifier } from '../deliveries/feed/change-notifier.ts';
import { createDeliveryUrls, type DeliveryUrls } from '../deliveries/ingress/delivery-url.ts';
import { DeliverySecretError, loadDeliverySecret } from '../deliveries/ingress/secret.ts';
import { LogOpenError } from '../deliveries/log/errors.ts';
import type { DeliveryLog } from '../deliveries/log/log.ts';
import { observeLog } from '../deliveries/log/observer.ts';
import { openSqliteLog } from '../deliveries/sqlite/log.ts';
import { messageOf } from '../lib/error-text.ts';
import { settlesWithin } from '../lib/task-tracker.ts';
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

/** Opens the log in DATA_DIR. Rejects with ConfigError when that folder can't be created, read or written. */
export const startDeliveries = async (startup: Startup): Promise<Deliveries> => {
  const {
    config: { deliveries },
    log,
    telemetry,
  } = startup;
  const observer = telemetry.log;
  const onTrimError = (error: unknown) => log.warn('retention failed', { error: messageOf(error) });
  try {
    const secret = deliveries.secret ?? (await loadDeliverySecret(deliveries.dataDir));
    const deliveryLog = observeLog(await openSqliteLog({ ...deliveries, onTrimError, observer }), observer);
    startup.opened.defer(() => closeWithin(startup, deliveryLog));
    return {
      log: deliveryLog,
      changeNotifier: new ChangeNotifier(deliveryLog),
      feedCache: new FeedCache(FEED_CACHE_BYTES),
      deliveryUrls: createDeliveryUrls(secret),
      secret,
    };
  } catch (error) {
    if (error instanceof DeliverySecretError || error instanceof LogOpenError)
      throw new ConfigError([`DATA_DIR: ${error.message}`]);
    throw error;
  }
};

/**
 * Closes the log, and waits for that until the shutdown deadline. A slow disk is no failure of the shutdown: every
 * acknowledged delivery is durable already, and the next start opens a log that was not closed.
 */
const closeWithin = async ({ log, deadline }: Startup, deliveryLog: DeliveryLog): Promise<void> => {
  const closed = deliveryLog.close();
  if (await settlesWithin([closed], deadline.remainingMs())) return closed;
  log.warn('delivery log not closed before the shutdown deadline');
};
