import type { Log } from '../logger.ts';
import type { RedisObserver } from '../redis/connection.ts';
import type { SharedObserver } from '../shared/observer.ts';

/** What all connections to one Redis report. */
export type RedisState = Pick<RedisObserver, 'lost' | 'restored'> & Pick<SharedObserver, 'refused'>;

/** A Redis that refuses commands again after this time without a refusal gets a new line. */
const QUIET_MS = 60_000;

/**
 * Logs one line when a Redis is lost and one when all connections to it are back, and one when it begins to refuse what
 * gateways share: however many connections and commands fail. `variable` is that of its URL.
 */
export const createRedisLines = (log: Log, variable: string): RedisState => {
  let lost = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  return {
    lost(error) {
      lost += 1;
      if (lost === 1) log.warn('Redis is lost', { variable, error });
    },
    restored() {
      lost -= 1;
      if (lost === 0) log.info('Redis is back', { variable });
    },
    refused(error) {
      if (performance.now() - refusedAt > QUIET_MS)
        log.warn('Redis refuses what gateways share', { variable, error });
      refusedAt = performance.now();
    },
  };
};
