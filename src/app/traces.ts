import type { Config } from '../config/config.ts';
import type { ShutdownDeadline } from '../lib/shutdown-deadline.ts';
import type { Log } from '../logger.ts';
import { noTraces, type Traces } from '../telemetry/traces/traces.ts';

/** The last spans are exported in this time, unless the shutdown deadline comes first. */
const FLUSH_MS = 2000;

/** Starts the export of traces where it is configured. `opened` stops it last, when all spans have ended. */
export const loadTraces = async (
  { traces: settings, upstream }: Config,
  log: Log,
  opened: AsyncDisposableStack,
  deadline: ShutdownDeadline,
): Promise<Traces> => {
  if (settings === null) return noTraces;
  // A gateway without traces does not load OpenTelemetry's SDK.
  const { startTraces } = await import('../telemetry/traces/start.ts');
  const traces = await startTraces(settings, upstream.url, log);
  opened.defer(async () => {
    const isFlushed = await traces.stop(Math.min(FLUSH_MS, deadline.remainingMs()));
    if (!isFlushed) log.warn('traces: the last spans were not exported in time');
  });
  return traces;
};
