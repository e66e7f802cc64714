import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { sum } from './figures.ts';

/** Processes of benches and soaks: how they are started and asked, and what the system says of them. */

/**
 * Starts a program of these scripts, which answers messages: see `answerParent`. `pin` is a command that runs it on one core.
 * Disposal lets go of it, and it ends.
 */
export const startHelper = (program: URL, pin: readonly string[] = [], leadsGroup = false) => {
  const [command = '', ...args] = [...pin, process.execPath, fileURLToPath(program)];
  const child: ChildProcess = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: leadsGroup,
  });
  return {
    pid: child.pid ?? 0,
    /** Sends a message, and resolves with the next one that comes. Rejects when the process ends before. */
    ask: <Answer>(question: unknown): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const onExit = () => reject(new Error(`${program.pathname} has ended before it answered`));
        child.once('exit', onExit).once('message', (answer) => {
          child.off('exit', onExit);
          resolve(answer as Answer);
        });
        child.send({ question });
      }),
    [Symbol.dispose]: () => void (child.connected && child.disconnect()),
  };
};

export type Helper = ReturnType<typeof startHelper>;

/** In a helper: answers each message of its parent. The process ends, by `end`, when its parent lets go of it. */
export const answerParent = <Question>(
  answer: (question: Question) => unknown,
  end: () => void = () => process.exit(),
): void => {
  process.on('message', async ({ question }: { question: Question }) =>
    process.send?.((await answer(question)) ?? null),
  );
  process.on('disconnect', end);
};

/** Listens on a free port of loopback, and says where as the gateway does: `{"msg":"listening","url":…}`. */
export const announce = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    process.stderr.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
  });
};

/** A file of Linux about a process; empty where the system is another one, or the process is gone. */
const statusOf = (pid: number | 'self', name: 'stat' | 'status'): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
};

/** Clock ticks of 10 ms: Linux fixes them for all programs. */
const TICK_MS = 10;

/**
 * The time that all threads of a process have run, and processes that it started and that have ended, in milliseconds; NaN
 * where the system does not say.
 */
export const cpuMsOf = (pid: number): number => {
  // The name, in parentheses, may hold spaces. The 12th and 13th field behind it are user and system time, the
  // next two those of children that have ended.
  const fields = statusOf(pid, 'stat').split(') ')[1]?.split(' ') ?? [];
  return sum([11, 12, 13, 14].map((field) => Number(fields[field]))) * TICK_MS;
};

/** Does the work. Resolves with its answer, how long it took, and the CPU time of each process meanwhile; in milliseconds. */
export const measureCpu = async <Answer>(pids: readonly number[], work: () => Promise<Answer>) => {
  const [before, began] = [pids.map(cpuMsOf), performance.now()];
  const answer = await work();
  const elapsedMs = performance.now() - began;
  const cpuMs = pids.map((pid, index) => cpuMsOf(pid) - (before[index] ?? Number.NaN));
  return { answer, elapsedMs, cpuMs };
};

/** Resident memory, now and at its most, in MiB; NaN where the system does not say. */
export const memoryOf = (pid: number): { readonly mib: number; readonly peakMib: number } => {
  const status = statusOf(pid, 'status');
  const mib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { mib: mib('VmRSS'), peakMib: mib('VmHWM') };
};

/** The cores that this process may use; empty where the system does not say. */
export const allowedCores = (): readonly number[] => {
  const [, list = ''] = /^Cpus_allowed_list:\s*(\S+)/m.exec(statusOf('self', 'status')) ?? [];
  return list
    .split(',')
    .filter(Boolean)
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
};
