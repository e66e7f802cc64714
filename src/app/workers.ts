import type { App } from '../app.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { shutdownMs } from '../lib/deadlines.ts';
import type { Log } from '../lib/log.ts';
import { createMetricsSum } from '../telemetry/sum.ts';
import { startPrimary, WorkerStartError } from '../workers/primary.ts';

/** A worker that has not ended this long after the deadline of its own shutdown is killed. */
const OVERDUE_MS = 250;

/**
 * Starts `count` workers, each a gateway in a process of its own, and stands for all of them. Rejects with ConfigError for a
 * setting that the first one shows to be wrong.
 */
export const startWorkers = async (config: Config, count: number, log: Log): Promise<App> => {
  const primary = await startPrimary({ count, log, metrics: createMetricsSum() }).catch((error: unknown) => {
    const problems = error instanceof WorkerStartError ? error.end.failure?.problems : null;
    throw problems ? new ConfigError(problems) : error;
  });
  let signal: 'SIGTERM' | 'SIGINT' = 'SIGINT';
  return {
    url: primary.url,
    // The first worker does.
    async checkKey() {},
    async reload() {
      primary.reload();
    },
    // At SIGTERM each worker begins with its own.
    async beginShutdown() {
      signal = 'SIGTERM';
    },
    stop: () => primary.stop(signal, shutdownMs(config.shutdown) + OVERDUE_MS),
  };
};
