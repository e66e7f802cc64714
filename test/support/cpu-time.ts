import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** What /proc counts in, on every Linux. */
const TICKS_PER_SECOND = 100;

/**
 * The CPU seconds that a process and its descendants have used: the live ones, and those that ended and whose parents waited
 * for them. It misses what outlived its parent, such as the workers of a killed gateway. 0 where there is no /proc.
 */
export const cpuSeconds = (pid = process.pid): number => {
  try {
    // utime, stime, cutime and cstime; the name of the program, in parentheses, may contain spaces.
    const used = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .slice(11, 15);
    const ticks = used.reduce((sum, part) => sum + Number(part), 0);
    return childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), ticks / TICKS_PER_SECOND);
  } catch {
    // It has just ended: its parent has what it used.
    return 0;
  }
};

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
