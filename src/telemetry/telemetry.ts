import { collectDefaultMetrics, Registry } from 'prom-client';
import type { LogObserver } from '../deliveries/log/observer.ts';
import type { Log } from '../logger.ts';
import type { OperationObserver } from '../server/graphql/plugins/operation-observer.ts';
import type { CutReason } from '../server/http/unsent-limit.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';
import { createCacheMetrics, createSharedAnswerMetrics } from './cache-metrics.ts';
import { createIngestMetrics, createLogMetrics, createReaderMetrics } from './delivery-metrics.ts';
import {
  createCutLine,
  createLogLines,
  createOperationLines,
  createUnexpectedErrorLine,
  createUpstreamLines,
} from './log-events.ts';
import { createOperationMetrics } from './operation-metrics.ts';
import { createRedisLines, type RedisState } from './redis-lines.ts';
import { createRedisGauge, createRedisMetrics } from './redis-metrics.ts';
import {
  createBudgetMetrics,
  createCutMetrics,
  createEventMetrics,
  createHttpMetrics,
  createSocketMetrics,
} from './server-metrics.ts';
import { createSharedMetrics } from './shared-metrics.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';

export type Telemetry = ReturnType<typeof createTelemetry>;

/**
 * Creates the observers of all parts: each counts what its part reports, and logs it. `cacheBytes` returns the memory of
 * cached pages. A metric's label has few values, which the gateway chooses: never a name, an address, a key or a URL.
 * Default for `registry`, which holds the metrics: an empty one.
 */
export const createTelemetry = (log: Log, cacheBytes: () => number, registry = new Registry()) => {
  collectDefaultMetrics({ register: registry });
  return {
    operations: createOperationObserver(registry, log),
    onUnexpectedError: createUnexpectedErrorLine(log),
    onComputeUnitRejection: createBudgetMetrics(registry),
    upstream: createUpstreamObserver(registry, log),
    pages: createCacheMetrics(registry, cacheBytes),
    onSharedAnswer: createSharedAnswerMetrics(registry),
    shared: createSharedMetrics(registry),
    ingest: createIngestMetrics(registry),
    log: createLogObserver(registry, log),
    redisCommands: createRedisMetrics(registry),
    redis: createRedisObserver(registry, log),
    readers: createReaderMetrics(registry),
    events: createEventMetrics(registry),
    http: createHttpMetrics(registry),
    sockets: createSocketMetrics(registry),
    onConnectionCut: createCutObserver(registry, log),
    /** Renders all metrics in Prometheus' text format. */
    scrape: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  };
};

const createOperationObserver = (registry: Registry, log: Log): OperationObserver => {
  const metrics = createOperationMetrics(registry);
  const logOperation = createOperationLines(log);
  return {
    ...metrics,
    answered(operation) {
      metrics.answered(operation);
      logOperation(operation);
    },
  };
};

const createUpstreamObserver = (registry: Registry, log: Log): UpstreamObserver => {
  const metrics = createUpstreamMetrics(registry);
  const lines = createUpstreamLines(log);
  return {
    ...metrics,
    ended(attempt) {
      metrics.ended(attempt);
      lines.ended(attempt);
    },
    circuitChanged(state) {
      metrics.circuitChanged(state);
      lines.circuitChanged(state);
    },
  };
};

const createLogObserver = (registry: Registry, log: Log): LogObserver => {
  const metrics = createLogMetrics(registry);
  const lines = createLogLines(log);
  return {
    ...metrics,
    ...lines,
    appended(batch) {
      metrics.appended(batch);
      lines.appended();
    },
    failed(task, error) {
      metrics.failed(task, error);
      lines.failed(task, error);
    },
    refused(error) {
      metrics.refused(error);
      lines.refused(error);
    },
  };
};

/** Returns the observer of all connections to the Redis that a variable names. */
const createRedisObserver = (registry: Registry, log: Log) => {
  const gauge = createRedisGauge(registry);
  const states = new Map<string, RedisState>();
  return (variable: string): RedisState => {
    const known = states.get(variable);
    if (known !== undefined) return known;
    const count = gauge(variable);
    const lines = createRedisLines(log, variable);
    const state: RedisState = {
      ...lines,
      lost(error) {
        count(1);
        lines.lost(error);
      },
      restored() {
        count(-1);
        lines.restored();
      },
    };
    states.set(variable, state);
    return state;
  };
};

const createCutObserver = (registry: Registry, log: Log) => {
  const count = createCutMetrics(registry);
  const logCut = createCutLine(log);
  return (reason: CutReason, unsentBytes: number): void => {
    count(reason);
    logCut(reason, unsentBytes);
  };
};
