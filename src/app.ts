import { setTimeout as delay } from 'node:timers/promises';
import { startDeliveries } from './app/deliveries.ts';
import { startServer } from './app/server.ts';
import { loadTrustedDocuments } from './app/trusted-documents.ts';
import { startUpstream } from './app/upstream.ts';
import type { Config } from './config/config.ts';
import { type Clock, monotonicClock } from './lib/clock.ts';
import type { Log } from './logger.ts';
import { authenticateAnyone } from './server/auth/authenticate.ts';
import { reportOnKey } from './server/auth/check-gateway-key.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { createCacheBudget } from './upstream/cache/cache-budget.ts';

export type App = {
  /** Where it listens: `http://host:port`. */
  readonly url: string;
  /** Asks the service about the gateway's own key, and says in the log what it answers; never rejects. */
  checkKey(): Promise<void>;
  /**
   * Is not ready any more, and gives kept-alive connections back. Where readiness was asked for lately, resolves after
   * two seconds in which the gateway still accepts; else at once.
   */
  retire(): Promise<void>;
  /** Stops accepting, finishes what runs, lets subscribers resume, closes the log. */
  stop(): Promise<void>;
};

export type AppOptions = {
  /** Default: the clock of this process. Timers run by the process's own clock in any case. */
  readonly now?: Clock | undefined;
};

/** Builds and wires all parts, then listens. Rejects with ConfigError for what only the machine could tell. */
export const startApp = async (
  config: Config,
  log: Log,
  { now = monotonicClock }: AppOptions = {},
): Promise<App> => {
  const opened = new AsyncDisposableStack();
  try {
    return await start(config, log, now, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
};

/** For a balancer that probes each second and acts on the first refusal. With the time to stop it must fit into 10 s. */
const READINESS_DELAY_MS = 2000;

const start = async (config: Config, log: Log, now: Clock, opened: AsyncDisposableStack): Promise<App> => {
  const trusted = await loadTrustedDocuments(config.trustedDocuments);
  const cacheBudget = createCacheBudget(bytesOfPages(config));
  const telemetry = createTelemetry(log, cacheBudget.bytes);
  const startup = { config, log, now, telemetry, opened };
  const deliveries = await startDeliveries(startup);
  const upstream = await startUpstream(startup, cacheBudget);
  const server = await startServer(startup, upstream, deliveries, trusted);

  const { gatewayKey, sandbox } = upstream;
  const stopping = new AbortController();
  return {
    url: server.url,
    async checkKey() {
      if (gatewayKey === null || sandbox !== null || config.auth.mode === 'key') return;
      const gateway = await authenticateAnyone(gatewayKey)({ get: () => null });
      await reportOnKey((signal) => server.requestKeyVerification(gateway, signal), log, stopping.signal);
    },
    async retire() {
      server.retire();
      if (server.probes.isPolled()) await delay(READINESS_DELAY_MS);
    },
    async stop() {
      stopping.abort();
      await opened.disposeAsync();
    },
  };
};

/** What kept pages may weigh: nothing where no page may be kept for any time. */
const bytesOfPages = ({ cache: { headMs, tailMs, staleMs, collectiblesMs, maxMb } }: Config): number =>
  Math.max(headMs, tailMs, staleMs, collectiblesMs) > 0 ? maxMb * 1024 * 1024 : 0;
