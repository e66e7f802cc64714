import { readFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from './ask.ts';
import type { Waits } from './waits.ts';

const SAMPLE_MS = 100;
const PROBE_MS = 250;

/** Resident memory now and at its most so far, in MB; null where the machine does not say (it is not Linux) or the process is gone. */
const memoryOf = async (pid: number): Promise<{ now: number; most: number } | null> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [now, most] = ['VmRSS', 'VmHWM'].map(
    (name) => new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1],
  );
  return now && most ? { now: Number(now) / 1024, most: Number(most) / 1024 } : null;
};

type Options = {
  readonly url: string;
  readonly pid: number;
  readonly waits: Waits;
  readonly signal: AbortSignal;
};

/** Watches a gateway from outside: its memory, and how long it takes to say that it lives and is ready. */
export const startWatch = ({ url, pid, waits, signal }: Options) => {
  const seen = { mostMemoryMb: 0, lastMemoryMb: 0 };
  const own = monitorEventLoopDelay({ resolution: 10 });
  own.enable();
  const sample = async () => {
    while (!signal.aborted) {
      const memory = await memoryOf(pid);
      if (memory) Object.assign(seen, { mostMemoryMb: memory.most, lastMemoryMb: memory.now });
      await pause(SAMPLE_MS);
    }
  };
  const probe = async (path: string) => {
    while (!signal.aborted) {
      await waits
        .measure(path, ask({ url: url + path, method: 'GET' }))
        .then(({ status }) => status === 200 || waits.refuse(path, String(status)))
        .catch((error: unknown) => waits.refuse(path, String(error)));
      await pause(PROBE_MS);
    }
  };
  return {
    seen,
    /** How long this process itself kept its clients waiting, at most. */
    ownDelayMs: () => own.max / 1e6,
    ended: Promise.all([sample(), probe('/health/live'), probe('/health/ready')]),
  };
};
