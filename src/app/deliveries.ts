import { ConfigError } from '../config/config.ts';
import { FeedCache } from '../deliveries/feed/cache.ts';
import { ChangeNotifier } from '../deliveries/feed/change-notifier.ts';
import { createDeliveryUrls, type DeliveryUrls } from '../deliveries/ingress/delivery-url.ts';
import { DeliverySecretError, loadDeliverySecret } from '../deliveries/ingress/secret.ts';
import { LogOpenError, messageOf } from '../deliveries/log/errors.ts';
import type { DeliveryLog } from '../deliveries/log/log.ts';
import { observeLog } from '../deliveries/log/observer.ts';
import { openSqliteLog } from '../deliveries/sqlite/log.ts';
import type { Startup } from './startup.ts';

/** The log of deliveries, and what its readers share. */
export type Deliveries = {
  readonly log: DeliveryLog;
  readonly changeNotifier: ChangeNotifier;
  readonly feedCache: FeedCache;
  readonly deliveryUrls: DeliveryUrls;
  /** Makes delivery urls, cursors, and the tenants of keys. */
  readonly secret: string;
};

/** For events that were executed lately: subscribers that are a little behind find them there. */
const FEED_CACHE_BYTES = 32 * 1024 * 1024;

/** Opens the log in DATA_DIR. Rejects with ConfigError where that folder can't be made, read or written. */
export const startDeliveries = async ({
  config: { deliveries },
  log,
  telemetry,
  opened,
}: Startup): Promise<Deliveries> => {
  const observer = telemetry.log;
  const onTrimError = (error: unknown) =>
    log.warn('old deliveries could not be dropped', { error: messageOf(error) });
  try {
    const secret = deliveries.secret ?? (await loadDeliverySecret(deliveries.dataDir));
    const deliveryLog = observeLog(await openSqliteLog({ ...deliveries, onTrimError, observer }), observer);
    opened.defer(() => deliveryLog.close());
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
