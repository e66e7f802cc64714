import { setTimeout as delay } from 'node:timers/promises';
import { startDeliveries } from './app/deliveries.ts';
import { startServer } from './app/server.ts';
import type { ReadPath } from './app/startup.ts';
import { loadTraces, PublicUrl, type Startup, type Times } from './app/startup.ts';
import { openTrustedFile } from './app/trusted-documents.ts';
import { startUpstream } from './app/upstream.ts';
import type { Config } from './config/config.ts';
import { readVersion } from './config/version.ts';
import type { openSqliteLog } from './deliveries/sqlite/log.ts';
import { type Clock, createShutdownDeadline, monotonicClock } from './lib/deadlines.ts';
import type { Log } from './lib/log.ts';
import { settlesWithin } from './lib/tasks.ts';
import { itemLookups, lookups } from './lookups/registry.ts';
import { authenticateAnyone } from './server/auth/authenticate.ts';
import { reportOnKey } from './server/auth/verify-key.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { createCacheBudget } from './upstream/cache/entries.ts';
import type { Machine } from './workers/worker.ts';

export type App = {
  /** The address that it listens on: `http://host:port`. */
  readonly url: string;
  /** Verifies the gateway's own key upstream and logs the result; never rejects. */
  checkKey(): Promise<void>;
  /**
   * Reads the file of TRUSTED_DOCUMENTS again and logs the result. An invalid file changes nothing. Never rejects.
   */
  reload(): Promise<void>;
  /**
   * Begins a graceful shutdown: the gateway is no longer ready, and each response closes its kept-alive connection. It still
   * accepts connections. Resolves after the notice of the settings, or, if readiness was not polled lately and NOTICE_MS is
   * not set, as soon as every client of a kept-alive connection has been told.
   */
  beginShutdown(): Promise<void>;
  /**
   * Finishes the graceful shutdown: stops accepting, finishes running operations, ends subscriptions so that clients
   * resume, and closes the delivery log. Resolves within `shutdownMs` of `beginShutdown`, or of `stop` without it.
   */
  stop(): Promise<void>;
};

export type AppOptions = {
  /** Default: the clock of this process. Timers always use the process's own clock. */
  readonly now?: Clock | undefined;
  /** Default: `fast`. */
  readonly readPath?: ReadPath | undefined;
  /** Whether the service's list of chains replaces the built-in one. Default: true. */
  readonly readsChains?: boolean | undefined;
  /** For tests, which can't wait for the defaults. */
  readonly times?: Times | undefined;
  /** Opens the delivery log where none is in Redis. Default: `openSqliteLog`. */
  readonly openLog?: typeof openSqliteLog | undefined;
  /** Where this gateway is one of the workers of a machine. */
  readonly machine?: Machine | null | undefined;
};

/** Builds and wires all parts, then listens. Rejects with ConfigError for a setting that only the machine shows to be wrong. */
export const startApp = async (
  config: Config,
  log: Log,
  {
    now = monotonicClock,
    readPath = 'fast',
    readsChains = true,
    times = {},
    openLog,
    machine = null,
  }: AppOptions = {},
): Promise<App> => {
  const opened = new AsyncDisposableStack();
  try {
    return await start({ config, log, now, readPath, readsChains, times, openLog, machine, opened });
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
};

type Parts = Pick<
  Startup,
  'config' | 'log' | 'now' | 'readPath' | 'readsChains' | 'times' | 'openLog' | 'machine' | 'opened'
>;

/** The resources of upstream that have a circuit breaker of their own: each lookup, and the management of webhooks. */
const RESOURCES = [...[...lookups, ...itemLookups].map(({ name }) => name), 'webhooks', 'chains'];

const start = async (parts: Parts): Promise<App> => {
  const { config, log, machine, opened } = parts;
  const { trustedDocuments } = config;
  const agents = config.mcp && (await import('./app/mcp.ts')).createAgentTools(config.mcp);
  const trusted =
    trustedDocuments === null ? null : await openTrustedFile(trustedDocuments, log, agents?.accept);
  const cacheBudget = createCacheBudget(cacheBytesOf(config));
  const deadline = createShutdownDeadline(config.shutdown);
  const version = readVersion();
  const traces = await loadTraces(config, version, log, opened, deadline);
  const telemetry = createTelemetry({
    log,
    cacheBytes: cacheBudget.bytes,
    traces,
    resources: RESOURCES,
    version,
    worker: machine?.number ?? null,
    lagCheckMs: parts.times.lagCheckMs,
  });
  const startup = { ...parts, telemetry, deadline, publicUrl: new PublicUrl(config.publicUrl) };
  const redis = config.redis && (await (await import('./app/redis.ts')).startRedis(startup, config.redis));
  const deliveries = await startDeliveries(startup, redis);
  const upstream = await startUpstream(startup, cacheBudget, deliveries);
  const server = await startServer(startup, upstream, deliveries, trusted?.documents ?? null, agents);

  machine?.answer({ health: server.health.report, metrics: telemetry.snapshot });

  const { gatewayKey } = upstream;
  const stopping = new AbortController();
  return {
    url: server.url,
    async checkKey() {
      if (gatewayKey === null || config.upstream.url === null || config.auth.mode === 'key') return;
      const gateway = await authenticateAnyone(gatewayKey)({ get: () => null });
      await reportOnKey((signal) => server.requestKeyVerification(gateway, signal), log, stopping.signal);
    },
    async reload() {
      if (trusted === null) log.warn('nothing to reload: TRUSTED_DOCUMENTS is not set');
      await trusted?.reload();
    },
    async beginShutdown() {
      deadline.start();
      const told = server.beginShutdown();
      const noticeMs = deadline.noticeMs();
      const isNoticed = config.shutdown.alwaysNotices || server.health.isPolled();
      await (isNoticed ? delay(noticeMs) : settlesWithin([told], noticeMs));
    },
    async stop() {
      deadline.start();
      stopping.abort();
      await opened.disposeAsync();
    },
  };
};

/** The memory for cached pages, in bytes; 0 if the settings allow no caching. */
const cacheBytesOf = ({ cache: { headMs, tailMs, staleMs, newestMs, maxMb } }: Config): number =>
  Math.max(headMs, tailMs, staleMs, ...Object.values(newestMs)) > 0 ? maxMb * 1024 * 1024 : 0;
