import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../../bench/processes.ts';

const SAMPLE_MS = 1000;
const MINUTE_SAMPLES = 60;

/** Resident memory of a process in MB; null where the machine does not say, or the process is gone. */
const memoryOf = async (pid: number): Promise<number | null> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / 1024;
};

/** Samples the memory of a process each second. */
export const watchMemory = (pid: number, signal: AbortSignal) => {
  const samples: number[] = [];
  const sample = async () => {
    while (!signal.aborted) {
      const megabytes = await memoryOf(pid);
      if (megabytes !== null) samples.push(megabytes);
      await pause(SAMPLE_MS, null, { signal }).catch(() => {});
    }
  };
  return {
    samples,
    /** The medians of the minutes so far. The last one may be shorter. */
    minutes: (): number[] =>
      Array.from({ length: Math.ceil(samples.length / MINUTE_SAMPLES) }, (_, minute) =>
        Math.round(median(samples.slice(minute * MINUTE_SAMPLES, (minute + 1) * MINUTE_SAMPLES))),
      ),
    ended: sample(),
  };
};
