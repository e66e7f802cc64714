import { collectDefaultMetrics, Registry } from 'prom-client';
import type { IngestObserver } from '../deliveries/ingress/ingress.ts';
import type { LogObserver } from '../deliveries/log/observer.ts';
import type { RetentionObserver } from '../deliveries/log/retention-clock.ts';
import type { SharedFrom } from '../graph/answer/shared-answers.ts';
import type { Log } from '../lib/log.ts';
import type { Trace } from '../lib/trace.ts';
import type { OperationObserver } from '../server/graphql/observe.ts';
import type { HttpObserver } from '../server/http/exchange.ts';
import type { CutReason } from '../server/http/unsent-limit.ts';
import type { EventObserver } from '../server/subscriptions/frame.ts';
import type { PageObserver } from '../upstream/cache/page-cache.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';
import {
  createIngestMetrics,
  createLogMetrics,
  createReaderMetrics,
  createRetentionMetrics,
} from './delivery-metrics.ts';
import {
  createCutLine,
  createLogLines,
  createOperationLines,
  createOutOfMemoryLine,
  createRedisLines,
  createRetentionLines,
  createUnexpectedErrorLine,
  createUpstreamLines,
  type RedisState,
} from './log-lines.ts';
import {
  createBudgetMetrics,
  createCutMetrics,
  createEventMetrics,
  createHttpMetrics,
  createOperationMetrics,
  createSocketMetrics,
} from './server-metrics.ts';
import type { Traces } from './traces.ts';
import {
  createCacheMetrics,
  createRedisGauge,
  createRedisMetrics,
  createSharedAnswerMetrics,
  createSharedMetrics,
  createUpstreamMetrics,
} from './upstream-metrics.ts';

export type Telemetry = ReturnType<typeof createTelemetry>;

/**
 * Creates the observers of all parts: each counts what its part reports, and logs it. `cacheBytes` returns the memory of
 * cached pages. `traces` makes spans of the same reports. A metric's label has few values, which the gateway chooses: never
 * a name, an address, a key or a URL. Default for `registry`, which holds the metrics: an empty one.
 */
export const createTelemetry = (
  log: Log,
  cacheBytes: () => number,
  traces: Traces,
  registry = new Registry(),
) => {
  collectDefaultMetrics({ register: registry });
  return {
    operations: createOperationObserver(registry, log, traces.operations),
    onUnexpectedError: createUnexpectedErrorLine(log),
    onComputeUnitRejection: createBudgetMetrics(registry),
    upstream: createUpstreamObserver(registry, log, traces.upstream),
    pages: createPageObserver(registry, cacheBytes, traces),
    onSharedAnswer: createSharedAnswerObserver(registry, traces),
    documents: traces.documents,
    shared: createSharedMetrics(registry),
    ingest: createIngestObserver(registry, log),
    log: createLogObserver(registry, log, traces.log),
    retention: createRetentionObserver(registry, log),
    redisCommands: createRedisMetrics(registry),
    redis: createRedisObserver(registry, log),
    readers: createReaderMetrics(registry),
    events: createEventObserver(registry, traces),
    http: createHttpObserver(registry, traces),
    sockets: { ...createSocketMetrics(registry), ...traces.sockets },
    onConnectionCut: createCutObserver(registry, log),
    /** Renders all metrics in Prometheus' text format. */
    scrape: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  };
};

const createOperationObserver = (
  registry: Registry,
  log: Log,
  spans: Traces['operations'],
): OperationObserver => {
  const metrics = createOperationMetrics(registry);
  const logOperation = createOperationLines(log);
  return {
    started: spans.started,
    answered(operation) {
      metrics.answered(operation);
      logOperation(operation);
      spans.answered(operation);
    },
    streaming(trace) {
      spans.streaming(trace);
      return metrics.streaming(trace);
    },
  };
};

const createUpstreamObserver = (
  registry: Registry,
  log: Log,
  spans: Traces['upstream'],
): UpstreamObserver => {
  const metrics = createUpstreamMetrics(registry);
  const lines = createUpstreamLines(log);
  return {
    sending(attempt) {
      metrics.sending();
      return spans.sending(attempt);
    },
    ended(attempt) {
      metrics.ended(attempt);
      lines.ended(attempt);
      spans.ended(attempt);
    },
    circuitChanged(state, resource) {
      metrics.circuitChanged(state, resource);
      lines.circuitChanged(state, resource);
    },
  };
};

const createIngestObserver = (registry: Registry, log: Log): IngestObserver => {
  const metrics = createIngestMetrics(registry);
  const line = createOutOfMemoryLine(log);
  return {
    ...metrics,
    outOfMemory() {
      metrics.outOfMemory();
      line();
    },
  };
};

const createLogObserver = (registry: Registry, log: Log, spans: Traces['log']): LogObserver => {
  const metrics = createLogMetrics(registry);
  const lines = createLogLines(log);
  return {
    ...metrics,
    ...lines,
    appending: spans.appending,
    appended(batch) {
      metrics.appended(batch);
      lines.appended();
      spans.appended(batch);
    },
    failed(task, error, trace) {
      metrics.failed(task, error, trace);
      lines.failed(task, error);
      spans.failed(task, error, trace);
    },
    refused(error, trace) {
      metrics.refused(error, trace);
      lines.refused(error);
      spans.refused(error, trace);
    },
  };
};

const createRetentionObserver = (registry: Registry, log: Log): RetentionObserver => {
  const setWaits = createRetentionMetrics(registry);
  const lines = createRetentionLines(log);
  return {
    ...lines,
    jumped(ms) {
      setWaits(true);
      lines.jumped(ms);
    },
    settled(reason) {
      setWaits(false);
      lines.settled(reason);
    },
  };
};

const createPageObserver = (registry: Registry, cacheBytes: () => number, traces: Traces) => {
  const metrics = createCacheMetrics(registry, cacheBytes);
  return (resource: 'transactions' | 'collectibles'): PageObserver => ({
    served: metrics(resource),
    ...traces.pages(resource),
  });
};

const createSharedAnswerObserver = (registry: Registry, traces: Traces) => {
  const count = createSharedAnswerMetrics(registry);
  return (from: SharedFrom, trace: Trace): void => {
    count(from);
    traces.onSharedAnswer(from, trace);
  };
};

const createEventObserver = (registry: Registry, { events }: Traces): EventObserver => {
  const metrics = createEventMetrics(registry);
  return {
    executing: events.executing,
    executed(trace, failed) {
      metrics.executed();
      events.executed(trace, failed);
    },
  };
};

const createHttpObserver = (registry: Registry, { http }: Traces): HttpObserver => {
  const metrics = createHttpMetrics(registry);
  return {
    started(route, request, trace) {
      metrics.started();
      return http.started(route, request, trace);
    },
    ended(route, status, trace) {
      metrics.ended(route, status);
      http.ended(route, status, trace);
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
