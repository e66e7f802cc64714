import { ConfigError } from '../config/config.ts';
import { messageOf } from '../lib/error-text.ts';
import type { RedisConnection } from '../redis/connection.ts';
import { checkDurability, oldVersion } from '../redis/durability.ts';
import { RedisUnavailableError } from '../redis/errors.ts';
import type { Startup } from './startup.ts';

/** The Redis that all gateways share. */
export type Redis = {
  readonly connection: RedisConnection;
  /** For writes that wait for replicas: what is sent over the same connection meanwhile waits, too. */
  readonly writer: RedisConnection;
  readonly minReplicas: number;
};

/**
 * Connects to the Redis of REDIS_URL; null without one. Rejects with ConfigError when it can't be reached, or may lose what
 * it acknowledges while REDIS_DURABILITY is `strict`.
 */
export const startRedis = async (startup: Startup): Promise<Redis | null> => {
  const { redis } = startup.config;
  if (redis === null) return null;
  const { urls, durability, minReplicas } = redis;
  // A gateway without Redis does not load its client.
  const { connectRedis } = await import('../redis/connection.ts');
  const connect = async (): Promise<RedisConnection> => {
    const { redis: observe, redisCommands } = startup.telemetry;
    const observer = { ...redisCommands, ...observe('REDIS_URL') };
    const connection = await connectRedis({ urls, observer });
    startup.opened.defer(() => connection.close());
    return connection;
  };
  try {
    const connection = await connect();
    await checkStartSettings(startup, connection, durability);
    return { connection, writer: minReplicas === 0 ? connection : await connect(), minReplicas };
  } catch (error) {
    if (error instanceof RedisUnavailableError) throw new ConfigError([`REDIS_URL: ${messageOf(error)}`]);
    throw error;
  }
};

const checkStartSettings = async (
  { log }: Startup,
  connection: RedisConnection,
  durability: 'strict' | 'relaxed',
): Promise<void> => {
  const version = await oldVersion(connection);
  if (version !== null) throw new ConfigError([`REDIS_URL: expected Redis 7 or later, got ${version}`]);
  const { problems, unreadable } = await checkDurability(connection);
  if (unreadable !== null) log.warn('Redis does not show how durable it is', { error: unreadable });
  if (problems.length > 0 && durability === 'strict')
    throw new ConfigError(
      problems.map((problem) => `REDIS_URL: ${problem}; REDIS_DURABILITY=relaxed accepts the loss`),
    );
};
