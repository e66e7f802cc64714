import { cpuMsOf, type Helper, measureCpu } from '../../harness/processes.ts';
import type { Load, LoadTask } from '../load/load.ts';
import { faultOf } from '../lookups/answers.ts';
import type { Server } from '../lookups/subjects.ts';
import { templatesOf, type Workload } from '../lookups/workloads.ts';

/** How processes that do the same work are compared: in turns, again and again, by the CPU time of what each has done. */

/** Of each process and kind of work, in a round. */
export const [WARM_UP_TURNS, TURNS] = [5, 10];
/**
 * The least CPU time of a turn, and how long requests are sent before it is asked for. So short that what else the machine
 * does meanwhile weighs on all alike; and not by the clock, since a server that gets little of a core would be
 * measured before V8 has compiled it.
 */
const [TURN_CPU_MS, LOAD_MS] = [150, 100];

/** Fewer say nothing with a confidence of 95 %. */
const MIN_ROUNDS = 6;

/** Throws for an option that no verdict can be based on. */
export const roundsIn = (option: string): number => {
  const rounds = Number(option);
  if (Number.isInteger(rounds) && rounds >= MIN_ROUNDS) return rounds;
  throw new Error(`--rounds: expected a whole number from ${MIN_ROUNDS} on, got ${option}`);
};

/** A process that is measured. A turn resolves with how many units of work it has done; NaN where it doesn't do this work. */
export type Measured = { readonly pid: number; readonly turn: () => Promise<number> };

/** `faultOf` says why an answer is wrong; null for a right one. */
export const underLoad = (
  { pid, port }: Server,
  load: Helper,
  task: Pick<LoadTask, 'templates' | 'connections' | 'pages' | 'wallets'>,
  faultOf: (text: string) => string | null,
): Measured => ({
  pid,
  turn: async () => {
    const began = cpuMsOf(pid);
    let answered = 0;
    do {
      const { count, failure, samples } = await load.ask<Load>({ ...task, port, ms: LOAD_MS });
      const fault = failure ?? samples.map(faultOf).find((found) => found !== null);
      if (fault) throw new Error(fault);
      answered += count;
    } while (cpuMsOf(pid) - began < TURN_CPU_MS);
    return answered;
  },
});

/** `wallets` is how many are asked of again and again. By default each request asks of another one. */
export const answering = (
  workload: Workload,
  server: Server,
  load: Helper,
  wallets: number | null = null,
): Measured => {
  const { connections, pages } = workload;
  const task = { templates: templatesOf(workload), connections, pages, wallets };
  return underLoad(server, load, task, (text) => faultOf(text, workload));
};

/** What a unit of work has cost, in microseconds of CPU time, and units a second; NaN where a process doesn't do this work. */
export type Cost = { readonly cpuMicros: number; readonly rate: number };

/** The processes take turns: A B C, C B A, again and again. Resolves with the cost of each. */
export const measureInTurns = async (measured: readonly Measured[]): Promise<readonly Cost[]> => {
  const take = async (turns: number) => {
    const taken = measured.map(({ turn }) => ({ turn, units: 0, ms: 0 }));
    for (let turn = 0; turn < turns; turn += 1)
      for (const one of turn % 2 === 0 ? taken : taken.toReversed()) {
        const began = performance.now();
        one.units += await one.turn();
        one.ms += performance.now() - began;
      }
    return taken;
  };
  await take(WARM_UP_TURNS);
  const pids = measured.map(({ pid }) => pid);
  const { answer, cpuMs } = await measureCpu(pids, () => take(TURNS));
  return answer.map(({ units, ms }, index) => ({
    cpuMicros: (1000 * (cpuMs[index] ?? Number.NaN)) / units,
    rate: (1000 * units) / ms,
  }));
};
