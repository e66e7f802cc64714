import { readFileSync } from 'node:fs';

/** What the system tells of a process: Linux does; elsewhere all is NaN. */

/** Clock ticks of 10 ms: Linux fixes them for all programs. */
const TICK_MS = 10;

const read = (pid: number, name: 'stat' | 'status'): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
};

/** The time that all of its threads have run, in milliseconds. */
export const cpuMsOf = (pid: number): number => {
  // The name, in parentheses, may hold spaces. User and system time are the 12th and 13th field behind it.
  const fields = read(pid, 'stat').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

/** Resident memory, now and at its most, in MiB. */
export const memoryOf = (pid: number): { readonly mib: number; readonly peakMib: number } => {
  const status = read(pid, 'status');
  const mib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { mib: mib('VmRSS'), peakMib: mib('VmHWM') };
};
