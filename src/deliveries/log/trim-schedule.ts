import { createKeyedQueue } from '../../lib/tasks.ts';
import { messageOf } from '../../lib/values.ts';
import { LogDamagedError, LogUnavailableError } from './errors.ts';

const TRIM_EVERY_MS = 5000;

type TrimSchedule = {
  /** Trims once the trims before have ended. One of them may have looked before the deliveries arrived that are to drop. */
  trim(): Promise<void>;
  stop(): void;
};

/**
 * Starts a schedule that trims now, and again 5 seconds after each of its trims has ended. Calls `onError` for the first of
 * several failures in a row for one reason. Damage is not reported here, since the log's observer reports it.
 */
export const startTrimming = (
  trimOnce: () => Promise<void>,
  onError: ((error: unknown) => void) | undefined,
): TrimSchedule => {
  const inOrder = createKeyedQueue();
  const trim = () => inOrder('trim', trimOnce);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let reported: string | null = null;
  const succeeded = () => {
    reported = null;
  };
  const failed = (error: unknown) => {
    // A store that is lost says so in several ways.
    const reason = error instanceof LogUnavailableError ? 'unavailable' : messageOf(error);
    if (!isStopped && reason !== reported && !(error instanceof LogDamagedError)) onError?.(error);
    reported = reason;
  };
  const schedule = () => {
    if (!isStopped) timer = setTimeout(run, TRIM_EVERY_MS).unref();
  };
  const run = () => void trim().then(succeeded, failed).then(schedule);
  run();
  return {
    trim,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
