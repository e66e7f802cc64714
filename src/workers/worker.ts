import cluster from 'node:cluster';
import type { Config } from '../config/config.ts';
import type { HealthReport } from '../server/http/health.ts';
import { openChannel } from './channel.ts';
import type { Exposition, MetricSnapshot, OfPrimary, OfWorkers, Place, StartFailure } from './questions.ts';

/** What a worker knows of its machine. */
export type Machine = Place & {
  /** Answers further questions of the primary to this worker. */
  answer(own: OwnAnswers): void;
  /** The health of all workers. */
  health(): Promise<HealthReport>;
  /** The metrics of all workers. */
  metrics(): Promise<Exposition>;
  listening(url: string): Promise<void>;
  failed(failure: StartFailure): Promise<void>;
};

type OwnAnswers = {
  readonly health: () => Promise<HealthReport>;
  readonly metrics: () => Promise<MetricSnapshot>;
};

/** Longer than the primary waits for the workers: see primary.ts. */
const HEALTH_MS = 2600;
const METRICS_MS = 6000;
/** The primary does nothing else, so only a machine that is far too busy makes this wait end. */
const PLACE_MS = 30_000;

const NO_PRIMARY: HealthReport = {
  failed: [{ part: 'workers', message: 'the primary process does not answer' }],
  degraded: [],
};

/** Takes a place among the workers of this process's primary. */
export const joinPrimary = async (): Promise<Machine> => {
  const { worker } = cluster;
  if (worker === undefined) throw new TypeError('Expected a worker of a primary, got another process.');
  const own = Promise.withResolvers<OwnAnswers>();
  const primary = openChannel<OfPrimary, OfWorkers>(worker, {
    health: async () => (await own.promise).health(),
    metrics: async () => (await own.promise).metrics(),
  });
  return {
    ...(await primary.ask('place', PLACE_MS)),
    answer: own.resolve,
    health: () => primary.ask('health', HEALTH_MS).catch(() => NO_PRIMARY),
    metrics: () => primary.ask('metrics', METRICS_MS),
    listening: (url) => primary.ask('listening', PLACE_MS, url),
    failed: (failure) => primary.ask('failed', PLACE_MS, failure),
  };
};

/**
 * The settings of one worker. What a setting allows is for the machine, so each worker has its share of sockets, of requests
 * to upstream and of the cache's memory. UPSTREAM_RPS and the budgets of clients hold over all by Redis.
 */
export const shareOf = (config: Config, { count, port }: Pick<Place, 'count' | 'port'>): Config => ({
  ...config,
  port: port ?? config.port,
  maxSockets: Math.ceil(config.maxSockets / count),
  upstream: { ...config.upstream, connections: Math.ceil(config.upstream.connections / count) },
  cache: { ...config.cache, maxMb: config.cache.maxMb / count },
});
