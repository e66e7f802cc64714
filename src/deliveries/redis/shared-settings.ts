import { hash } from 'node:crypto';
import type { RedisConnection } from '../../redis/connection.ts';
import { SETTINGS } from './keys.ts';

/** What all gateways on one Redis must agree on. */
export type SharedSettings = {
  /** The one that signs delivery URLs. */
  readonly secret: string;
  readonly retentionHours: number;
  readonly retentionCount: number;
};

/**
 * Records the settings, and returns those that differ from what the gateway recorded that was started last: each by its
 * variable, with both values unless it is the secret.
 */
export const shareSettings = async (
  redis: RedisConnection,
  { secret, retentionHours, retentionCount }: SharedSettings,
): Promise<string[]> => {
  const own = {
    DELIVERY_RETENTION_HOURS: String(retentionHours),
    DELIVERY_RETENTION_COUNT: String(retentionCount),
    DELIVERY_SECRET: hash('sha256', `settings:${secret}`).slice(0, 16),
  };
  const names = Object.keys(own);
  const reply = await redis.send(SETTINGS, ['HMGET', SETTINGS, ...names]);
  const recorded = Array.isArray(reply) ? reply : [];
  await redis.send(SETTINGS, ['HSET', SETTINGS, ...Object.entries(own).flat()]);
  return Object.entries(own).flatMap(([name, value], index) => {
    const other = recorded[index];
    if (other === null || other === undefined || String(other) === value) return [];
    return [name === 'DELIVERY_SECRET' ? name : `${name}: ${value} here, ${String(other)} there`];
  });
};
