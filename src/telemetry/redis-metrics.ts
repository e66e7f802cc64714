import { Histogram, type Registry } from 'prom-client';
import type { RedisObserver } from '../redis/connection.ts';

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export const createRedisMetrics = (registry: Registry): RedisObserver => {
  const duration = new Histogram({
    name: 'gateway_redis_command_duration_seconds',
    help: 'Time of commands to Redis, including scripts, by outcome: replied, refused (by Redis), unavailable (no reply in time, or no connection).',
    labelNames: ['outcome'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return { settled: (outcome, durationMs) => duration.observe({ outcome }, durationMs / 1000) };
};
