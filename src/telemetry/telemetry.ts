import { setTimeout as delay } from 'node:timers/promises';
import type { Registry as MetricRegistry } from 'prom-client';
import Registry from 'prom-client/lib/registry.js';
import type { IndexFigures } from '../backend/indexer/figures.ts';
import type { IngestObserver } from '../deliveries/ingress/ingress.ts';
import type { LogObserver } from '../deliveries/log/observer.ts';
import type { RetentionObserver } from '../deliveries/log/retention.ts';
import type { SharedAnswerObserver } from '../graph/answer/shared-answers.ts';
import type { Log } from '../lib/log.ts';
import { shareResult } from '../lib/memo.ts';
import type { RedisObserver } from '../redis/connection.ts';
import type { SharedObserver } from '../redis/run.ts';
import type { DocumentObserver } from '../server/graphql/limits/documents.ts';
import type { OperationObserver } from '../server/graphql/observe.ts';
import type { HttpObserver } from '../server/http/exchange.ts';
import type { ConnectionObserver } from '../server/http/unsent-limit.ts';
import type { EventObserver } from '../server/subscriptions/frame.ts';
import type { SocketObserver } from '../server/websocket/connection.ts';
import type { PageObserver } from '../upstream/cache/page-cache.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';
import type { Exposition, MetricSnapshot } from '../workers/questions.ts';
import { createClientMetrics, createCostMetrics } from './client-metrics.ts';
import { combine } from './combine.ts';
import { createIngestMetrics, createLogMetrics, createRetentionMetrics } from './delivery-metrics.ts';
import { createIndexMetrics } from './index-metrics.ts';
import {
  createConnectionLines,
  createIngestLines,
  createLogLines,
  createOperationLines,
  createRedisLines,
  createRetentionLines,
  createUnexpectedErrorLine,
  createUpstreamLines,
} from './log-lines.ts';
import {
  createBudgetMetrics,
  createBuildInfo,
  createConnectionMetrics,
  createEventMetrics,
  createHttpMetrics,
  createOperationMetrics,
  createSocketMetrics,
  createWorkerMetrics,
} from './server-metrics.ts';
import type { Traces } from './start-traces.ts';
import { createSubscriberMetrics } from './subscriber-metrics.ts';
import {
  createCacheMetrics,
  createRedisGauge,
  createRedisMetrics,
  createSharedAnswerMetrics,
  createSharedMetrics,
  createUpstreamMetrics,
  type Metrics,
  metricsIn,
} from './upstream-metrics.ts';

export type Telemetry = ReturnType<typeof createTelemetry>;

type Options = {
  readonly log: Log;
  /** Returns the memory of cached pages. */
  readonly cacheBytes: () => number;
  /** Makes spans of what is reported; null where traces are off. */
  readonly traces: Traces | null;
  /** The names of upstream's resources. */
  readonly resources: readonly string[];
  /** The version of the gateway. */
  readonly version: string;
  /** The number of this process among the workers of a machine; null where it is alone. */
  readonly worker: number | null;
  /** How often subscribers that fall behind are looked for. Default: every 10 seconds. */
  readonly lagCheckMs?: number | undefined;
  /** Holds the metrics. Default: an empty one. */
  readonly registry?: MetricRegistry | undefined;
};

/**
 * Creates the observers of all parts: each counts what its part reports, and logs it. A metric's label has few values: they
 * are chosen by the gateway or from a list of the operator, and never an address, a key or a URL.
 */
export const createTelemetry = ({
  log,
  cacheBytes,
  traces,
  resources,
  version,
  worker,
  lagCheckMs,
  registry = new Registry(),
}: Options) => {
  const metrics = metricsIn(registry);
  createBuildInfo(metrics, version);
  createWorkerMetrics(metrics);
  return {
    operations: combine<OperationObserver>(
      createOperationMetrics(metrics),
      createClientMetrics(metrics),
      createCostMetrics(metrics, worker),
      createOperationLines(log),
      traces?.operations,
    ),
    onUnexpectedError: createUnexpectedErrorLine(log),
    onComputeUnitRejection: createBudgetMetrics(metrics),
    upstream: combine<UpstreamObserver>(
      createUpstreamMetrics(metrics, resources),
      createUpstreamLines(log),
      traces?.upstream,
    ),
    pages: createPageObserver(createCacheMetrics(metrics, cacheBytes), traces),
    sharedAnswers: combine<SharedAnswerObserver>(createSharedAnswerMetrics(metrics), traces?.sharedAnswers),
    documents: combine<DocumentObserver>(traces?.documents),
    shared: combine<SharedObserver>(createSharedMetrics(metrics)),
    ingest: combine<IngestObserver>(createIngestMetrics(metrics), createIngestLines(log)),
    log: combine<LogObserver>(createLogMetrics(metrics), createLogLines(log), traces?.log),
    retention: combine<RetentionObserver>(createRetentionMetrics(metrics), createRetentionLines(log)),
    redisCommands: combine<RedisObserver>(createRedisMetrics(metrics)),
    redis: createRedisObserver(createRedisGauge(metrics), log),
    events: combine<EventObserver>(
      createSubscriberMetrics(metrics, log, lagCheckMs),
      createEventMetrics(metrics),
      traces?.events,
    ),
    http: combine<HttpObserver>(createHttpMetrics(metrics), traces?.http),
    sockets: combine<SocketObserver>(createSocketMetrics(metrics), traces?.sockets),
    connections: combine<ConnectionObserver>(createConnectionMetrics(metrics), createConnectionLines(log)),
    ...createScrapeOfIndex(registry, metrics),
  };
};

/** A scrape asks an index that the gateway embeds for what it shows. */
const createScrapeOfIndex = (registry: MetricRegistry, metrics: Metrics) => {
  const { show, showSilence } = createIndexMetrics(metrics);
  let refresh = async (): Promise<void> => {};
  return {
    /** An index of these chains was started. `figures` rejects while it does not answer. */
    indexed(chainIds: readonly number[], figures: () => Promise<IndexFigures>): void {
      refresh = () => figures().then(show, () => showSilence(chainIds));
    },
    ...createScrape(registry, () => refresh()),
  };
};

/** Returns a function that writes what an index says of itself, where a process serves nothing else. */
export const createIndexExposition = (version: string): ((figures: IndexFigures) => Promise<Exposition>) => {
  const registry = new Registry();
  const metrics = metricsIn(registry);
  createBuildInfo(metrics, version);
  const { show } = createIndexMetrics(metrics);
  const { scrape } = createScrape(registry);
  return (figures) => {
    show(figures);
    return scrape();
  };
};

/** How long the event loop's lag is observed before it is reported first. */
const FIRST_LAG_MS = 25;

/**
 * What a scrape reads. The metrics of the process and of Node begin with the first one: what makes them takes longer to load
 * than all else of this folder.
 */
const createScrape = (registry: MetricRegistry, refresh: () => Promise<void> = async () => {}) => {
  const hasBegun = shareResult(async () => {
    const { collectDefaultMetrics } = await import('prom-client');
    collectDefaultMetrics({ register: registry });
    await delay(FIRST_LAG_MS);
  });
  return {
    /** In Prometheus' text format. */
    async scrape(): Promise<Exposition> {
      await Promise.all([hasBegun(), refresh()]);
      return { type: registry.contentType, body: await registry.metrics() };
    },
    /** To be summed with those of other processes. */
    async snapshot(): Promise<MetricSnapshot> {
      await Promise.all([hasBegun(), refresh()]);
      return registry.getMetricsAsJSON();
    },
  };
};

const createPageObserver =
  (metrics: ReturnType<typeof createCacheMetrics>, traces: Traces | null) => (resource: string) =>
    combine<PageObserver>(metrics(resource), traces?.pages(resource));

/** Returns the observer of all connections to the Redis that a variable names. */
const createRedisObserver = (gauge: ReturnType<typeof createRedisGauge>, log: Log) => {
  const observers = new Map<string, RedisObserver & SharedObserver>();
  return (variable: string) => {
    const known = observers.get(variable);
    if (known !== undefined) return known;
    const observer = combine<RedisObserver & SharedObserver>(
      gauge(variable),
      createRedisLines(log, variable),
    );
    observers.set(variable, observer);
    return observer;
  };
};
