import { createKeyedQueue } from '../../lib/scheduling/keyed-queue.ts';
import { LogDamagedError } from './errors.ts';

const TRIM_EVERY_MS = 5000;

type TrimSchedule = {
  /** Trims once the trims before have ended. One of them may have looked before the deliveries arrived that are to drop. */
  trim(): Promise<void>;
  stop(): void;
};

/**
 * Starts a schedule that trims now, and again 5 seconds after each of its trims has ended. Calls `onError` for the first of
 * several failures in a row. Damage is not reported here, since the log's observer reports it.
 */
export const startTrimming = (
  trimOnce: () => Promise<void>,
  onError: ((error: unknown) => void) | undefined,
): TrimSchedule => {
  const inOrder = createKeyedQueue();
  const trim = () => inOrder('trim', trimOnce);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isFailing = false;
  const succeeded = () => {
    isFailing = false;
  };
  const failed = (error: unknown) => {
    if (!isStopped && !isFailing && !(error instanceof LogDamagedError)) onError?.(error);
    isFailing = true;
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
