import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The command that puts a process onto one core; empty where the machine has no such command, or one core. */
export type Pin = readonly string[];

/** The core of each process. The server that is measured has one for itself. */
export type Cores = {
  readonly server: Pin;
  readonly load: Pin;
  readonly upstream: Pin;
  /** Whether upstream works on the core of the load. */
  readonly loadHasUpstream: boolean;
};

/** `0-2,5` is 0, 1, 2, 5. */
const coresIn = (list: string): readonly number[] =>
  list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });

/** Those that this process may use. Empty where the system does not say. */
const allowedCores = (): readonly number[] => {
  try {
    const [, list = ''] =
      /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return coresIn(list);
  } catch {
    return [];
  }
};

/** With two cores, the load and upstream share one. */
export const chooseCores = (): Cores => {
  const [server, load, upstream = load] = allowedCores();
  const hasTaskset = spawnSync('taskset', ['--version']).status === 0;
  const pin = (core: number | undefined): Pin =>
    hasTaskset && load !== undefined && core !== undefined ? ['taskset', '-c', String(core)] : [];
  return {
    server: pin(server),
    load: pin(load),
    upstream: pin(upstream),
    loadHasUpstream: upstream === load,
  };
};
