import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../harness/figures.ts';

const SAMPLE_MS = 1000;
const MINUTE_SAMPLES = 60;

/** Resident memory now, and at its most so far, in MB; null where the machine does not say (it is not Linux), or the process is gone. */
const memoryOf = async (pid: number): Promise<{ now: number; most: number } | null> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [now, most] = ['VmRSS', 'VmHWM'].map(
    (name) => new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1],
  );
  return now && most ? { now: Number(now) / 1024, most: Number(most) / 1024 } : null;
};

/** Samples the memory of a process each second. */
export const watchMemory = (pid: number, signal: AbortSignal) => {
  const samples: number[] = [];
  let mostMb = 0;
  const sample = async () => {
    while (!signal.aborted) {
      const memory = await memoryOf(pid);
      if (memory !== null) {
        samples.push(memory.now);
        mostMb = memory.most;
      }
      await pause(SAMPLE_MS, null, { signal }).catch(() => {});
    }
  };
  const ended = sample();
  return {
    /** In MB; 0 where the machine does not say. */
    lastMb: () => samples.at(-1) ?? 0,
    mostMb: () => mostMb,
    /** The medians of the minutes so far. The last one may be shorter. */
    minutes: (): number[] =>
      Array.from({ length: Math.ceil(samples.length / MINUTE_SAMPLES) }, (_, minute) =>
        Math.round(median(samples.slice(minute * MINUTE_SAMPLES, (minute + 1) * MINUTE_SAMPLES))),
      ),
    ended,
  };
};
