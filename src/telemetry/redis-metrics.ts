import { Gauge, Histogram, type Registry } from 'prom-client';
import type { RedisObserver } from '../redis/connection.ts';

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export const createRedisMetrics = (registry: Registry): Pick<RedisObserver, 'settled'> => {
  const duration = new Histogram({
    name: 'gateway_redis_command_duration_seconds',
    help: 'Time of commands to Redis, including scripts, by outcome: replied, refused (by Redis), unavailable (no reply in time, or no connection).',
    labelNames: ['outcome'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return { settled: (outcome, durationMs) => duration.observe({ outcome }, durationMs / 1000) };
};

/** Counts the lost connections to each Redis; call its result with the change. */
export const createRedisGauge = (registry: Registry) => {
  const lost = new Gauge({
    name: 'gateway_redis_connections_lost',
    help: 'Connections to Redis that are lost and being opened again, by the variable of its URL: REDIS_URL, REDIS_CACHE_URL.',
    labelNames: ['variable'],
    registers: [registry],
  });
  return (variable: string) => {
    lost.set({ variable }, 0);
    return (change: 1 | -1): void => lost.inc({ variable }, change);
  };
};
