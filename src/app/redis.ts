import { ConfigError } from '../config/config.ts';
import { messageOf } from '../lib/error-text.ts';
import { connectRedis, type RedisConnection } from '../redis/connection.ts';
import { checkDurability } from '../redis/durability.ts';
import { RedisUnavailableError } from '../redis/errors.ts';
import type { Startup } from './startup.ts';

/**
 * Connects to the Redis of REDIS_URL; null without one. Rejects with ConfigError when it can't be reached, or may lose what
 * it acknowledges while REDIS_DURABILITY is `strict`.
 */
export const startRedis = async ({ config, log, opened }: Startup): Promise<RedisConnection | null> => {
  if (config.redis === null) return null;
  const { urls, durability } = config.redis;
  try {
    const redis = await connectRedis({ urls });
    opened.defer(() => redis.close());
    const { problems, unreadable } = await checkDurability(redis);
    if (unreadable !== null) log.warn('Redis does not show how durable it is', { error: unreadable });
    if (problems.length > 0 && durability === 'strict')
      throw new ConfigError(
        problems.map((problem) => `REDIS_URL: ${problem}; REDIS_DURABILITY=relaxed accepts the loss`),
      );
    return redis;
  } catch (error) {
    if (error instanceof RedisUnavailableError) throw new ConfigError([`REDIS_URL: ${messageOf(error)}`]);
    throw error;
  }
};
