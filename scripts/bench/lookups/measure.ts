import { median, sum } from '../../harness/figures.ts';
import { type Helper, measureCpu } from '../../harness/processes.ts';
import type { Load, LoadTask } from '../load/load.ts';
import { faultOf } from './answers.ts';
import type { Subject } from './subjects.ts';
import type { Workload } from './workloads.ts';

/** The figures of a round. */
type Round = {
  /** Answers a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The server's own, of an answer: in microseconds. NaN where the system does not say. */
  readonly cpuMicros: number;
  /** How much of a core the server and the load took; 1 is all of it. */
  readonly serverBusy: number;
  readonly loadBusy: number;
  /** Why the result does not count; null when it does. */
  readonly failure: string | null;
};

/** The medians of a subject's rounds in a workload. */
export type Result = Round & {
  readonly subject: string;
  readonly title: string;
  /** Several subjects may share one. */
  readonly server: string;
};

/** The load: its process, and those whose work shares its core. */
export type LoadProcess = { readonly helper: Helper; readonly pids: readonly number[] };

/** How long a server answers each workload before all of them are measured. */
const FIRST_WARM_UP_MS = 1000;
/** And again before the workload is measured. With half of it, a fifth of the CPU time that is measured is the compiler's. */
const WARM_UP_MS = 4000;

const taskOf = (workload: Workload, subject: Subject, ms: number): LoadTask => {
  const { connections, pages, rate, beside } = workload;
  return {
    port: subject.server.port,
    templates: subject.templates(workload) ?? [],
    connections,
    ms,
    wallets: subject.wallets,
    pages,
    rate,
    beside: beside && { templates: subject.templates(beside) ?? [], connections: beside.connections },
  };
};

const resultOf = ({ name, title, server }: Subject, rounds: readonly Round[]): Result => {
  const middle = (figure: Exclude<keyof Round, 'failure'>) => median(rounds.map((round) => round[figure]));
  return {
    subject: name,
    title,
    server: server.name,
    rate: middle('rate'),
    p50Ms: middle('p50Ms'),
    p99Ms: middle('p99Ms'),
    maxMs: middle('maxMs'),
    cpuMicros: middle('cpuMicros'),
    serverBusy: middle('serverBusy'),
    loadBusy: middle('loadBusy'),
    failure: rounds.find(({ failure }) => failure !== null)?.failure ?? null,
  };
};

/**
 * Lets the subjects answer a workload. V8 compiles what they do again and again, so that measurements after it are those of
 * servers that run for a while.
 */
export const warmUp = async (
  workload: Workload,
  subjects: readonly Subject[],
  { helper }: LoadProcess,
  ms = FIRST_WARM_UP_MS,
): Promise<void> => {
  for (const subject of subjects)
    if (subject.templates(workload) !== null)
      await helper.ask<Load>({ ...taskOf(workload, subject, ms), rate: null });
};

/** Measures the subjects in turns, so that what else the machine does weighs on all alike. */
export const measureWorkload = async (
  workload: Workload,
  subjects: readonly Subject[],
  load: LoadProcess,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<readonly Result[]> => {
  const ms = seconds * 1000;

  const measure = async (subject: Subject, task: Partial<LoadTask>): Promise<Round> => {
    const { answer, elapsedMs, cpuMs } = await measureCpu([subject.server.pid, ...load.pids], () =>
      load.helper.ask<Load>({ ...taskOf(workload, subject, ms), ...task }),
    );
    const { samples, count, ...measured } = answer;
    const [serverMs = Number.NaN, ...loadMs] = cpuMs;
    const faults = subject.isRaw ? [] : samples.map((text) => faultOf(text, workload));
    return {
      ...measured,
      cpuMicros: (serverMs * 1000) / count,
      serverBusy: serverMs / elapsedMs,
      loadBusy: sum(loadMs) / elapsedMs,
      failure: measured.failure ?? faults.find((fault) => fault !== null) ?? null,
    };
  };

  const round = async (subject: Subject): Promise<Round> => {
    if (workload.share === null) return measure(subject, {});
    const reached = await measure(subject, { ms: ms / 2 });
    return reached.failure === null ? measure(subject, { rate: reached.rate * workload.share }) : reached;
  };

  const measured = subjects
    .filter((subject) => subject.templates(workload) !== null)
    .map((subject) => ({ subject, rounds: [] as Round[] }));
  await warmUp(workload, subjects, load, WARM_UP_MS);
  for (let number = 0; number < rounds; number += 1)
    for (const { subject, rounds: made } of measured) made.push(await round(subject));
  return measured.map(({ subject, rounds: made }) => resultOf(subject, made));
};
