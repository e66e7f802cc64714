import { openSync, readSync } from 'node:fs';
import process from 'node:process';

/** A turn of an event loop that took long, in milliseconds. */
export type Turn = {
  /** When it ended, by `sharedClockMs`. */
  readonly endMs: number;
  readonly tookMs: number;
  /** For how long the thread ran on a core. */
  readonly ranMs: number;
  /** For how long it could have run, but had no core; 0 where the machine does not say (it is not Linux). */
  readonly noCoreMs: number;
};

/** Milliseconds of a clock that all processes of a machine share. */
export const sharedClockMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * Records the turns of this process's main thread that take `longMs` or more, from now on. A timer measures every `everyMs`: an
 * idle loop takes this long from one measurement to the next.
 */
export const recordTurns = ({ everyMs = 20, longMs = 30 } = {}): Turn[] => {
  const turns: Turn[] = [];
  const readNoCoreMs = openNoCoreMs();
  const measure = () => {
    const { user, system } = process.threadCpuUsage();
    return { endMs: sharedClockMs(), ranMs: (user + system) / 1000, noCoreMs: readNoCoreMs() };
  };
  let last = measure();
  setInterval(() => {
    const now = measure();
    const tookMs = now.endMs - last.endMs - everyMs;
    if (tookMs >= longMs) {
      const [ranMs, noCoreMs] = [now.ranMs - last.ranMs, now.noCoreMs - last.noCoreMs];
      turns.push({ endMs: now.endMs, tookMs, ranMs, noCoreMs });
    }
    last = now;
  }, everyMs).unref();
  return turns;
};

/** Linux says for how long a thread has waited for a core so far: the second number, in nanoseconds. */
const openNoCoreMs = (): (() => number) => {
  try {
    const file = openSync('/proc/self/schedstat', 'r');
    const bytes = Buffer.alloc(80);
    return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 80, 0)).split(' ')[1]) / 1e6;
  } catch {
    return () => 0;
  }
};
