import { median } from '../harness/figures.ts';
import { memoryOf } from '../harness/processes.ts';
import { repeat } from './repeat.ts';

const MINUTE_SAMPLES = 60;

/** Samples the resident memory of a process each second, in MB. Where the machine does not say, there are no samples. */
export const watchMemory = (pid: number, signal: AbortSignal) => {
  const samples: number[] = [];
  let mostMb = 0;
  const sample = async (): Promise<string> => {
    const { mib, peakMib } = memoryOf(pid);
    if (!Number.isNaN(mib)) {
      samples.push(mib);
      mostMb = peakMib;
    }
    return 'sampled';
  };
  return {
    ended: repeat(sample, { pauseMs: 1000, signal }).ended,
    /** 0 without samples. */
    lastMb: () => samples.at(-1) ?? 0,
    mostMb: () => mostMb,
    /** The medians of the minutes so far. The last one may be shorter. */
    minutes: (): number[] =>
      Array.from({ length: Math.ceil(samples.length / MINUTE_SAMPLES) }, (_, minute) =>
        Math.round(median(samples.slice(minute * MINUTE_SAMPLES, (minute + 1) * MINUTE_SAMPLES))),
      ),
  };
};
