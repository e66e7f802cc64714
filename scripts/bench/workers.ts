import { parseArgs } from 'node:util';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { spawnWorkers } from '../../test/support/gateway/workers.ts';
import { launchRedis } from '../../test/support/redis/server.ts';
import { decimals, median, print, sum, tableOf, whole } from '../harness/figures.ts';
import { allowedCores, type Helper, measureCpu, memoryOf, startHelper } from '../harness/processes.ts';
import type { Load, LoadTask } from './load/load.ts';
import { templatesOf, WORKLOADS, type Workload } from './lookups/workloads.ts';

/** Of wallets whose pages are in memory: what is left to a gateway is its own work. */
const NAMES = ['W1', 'W2', 'W5'];
const HOT_WALLETS = 128;
/** So many that the system's hash of them gives each worker about the same number. */
const CONNECTIONS = 128;
/** Those of the two workers, of the load, and of all else. */
const CORES = 4;

type Round = {
  readonly rate: number;
  readonly cpuMicros: number;
  /** How much of a core each process took. */
  readonly busy: readonly number[];
  readonly loadBusy: number;
};

const subjectOf = async (redisUrl: string, upstreamUrl: string, count: number, pin: readonly string[]) => {
  const env = { UPSTREAM_URL: upstreamUrl, WORKERS: String(count) };
  const gateway = await spawnWorkers(redisUrl, env, pin);
  const primary = gateway.child.pid ?? 0;
  const workers = await gateway.pids();
  return {
    title: count === 1 ? 'one gateway' : `WORKERS=${count}`,
    port: Number(new URL(gateway.url).port),
    /** Those that answer. */
    pids: workers.length > 0 ? workers : [primary],
    primary: workers.length > 0 ? [primary] : [],
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
};

type Subject = Awaited<ReturnType<typeof subjectOf>>;

const measure = async (subject: Subject, workload: Workload, load: Helper, ms: number): Promise<Round> => {
  const task: LoadTask = {
    templates: templatesOf(workload),
    connections: CONNECTIONS,
    wallets: HOT_WALLETS,
    port: subject.port,
    ms,
  };
  const { answer, elapsedMs, cpuMs } = await measureCpu([load.pid, ...subject.pids], () =>
    load.ask<Load>(task),
  );
  const { rate, count, failure } = answer;
  if (failure !== null) throw new Error(failure);
  const [loadMs = Number.NaN, ...taken] = cpuMs;
  return {
    rate,
    cpuMicros: (1000 * sum(taken)) / count,
    busy: taken.map((ms) => ms / elapsedMs),
    loadBusy: loadMs / elapsedMs,
  };
};

/** Measures the subjects in turns, and prints their medians. */
const compare = async (
  subjects: readonly Subject[],
  workload: Workload,
  load: Helper,
  { rounds, ms }: { readonly rounds: number; readonly ms: number },
): Promise<void> => {
  const measured = subjects.map((subject) => ({ subject, made: [] as Round[] }));
  for (const { subject } of measured) await measure(subject, workload, load, ms);
  for (let round = 0; round < rounds; round += 1)
    for (const { subject, made } of measured) made.push(await measure(subject, workload, load, ms));
  const figures = measured.map(({ subject, made }) => ({
    title: subject.title,
    rate: median(made.map(({ rate }) => rate)),
    cpuMicros: median(made.map(({ cpuMicros }) => cpuMicros)),
    cores: subject.pids.map((_, process) => decimals(median(made.map(({ busy }) => busy[process] ?? 0)))),
    loadBusy: median(made.map(({ loadBusy }) => loadBusy)),
  }));
  const ratio = (figure: 'rate' | 'cpuMicros') =>
    decimals((figures[1]?.[figure] ?? Number.NaN) / (figures[0]?.[figure] ?? Number.NaN));
  const rows = figures.map(({ title, rate, cpuMicros, cores, loadBusy }) => [
    title,
    whole(rate),
    decimals(cpuMicros, 0),
    cores.join(' + '),
    decimals(loadBusy),
  ]);
  print(`\n${workload.name}: ${workload.title}, ${HOT_WALLETS} hot wallets, ${CONNECTIONS} connections`);
  print(tableOf([['measured', 'answers/s', 'CPU µs each', 'cores', 'of the load'], ...rows]));
  print(`Two workers: ${ratio('rate')} times as many answers, ${ratio('cpuMicros')} of the CPU time each.`);
};

/**
 * How many hot requests two workers answer, of those of one gateway, in turns in one run. With four cores or more the
 * gateways have two of them, and the load another one. With fewer they share them with the load, and only the CPU time of an
 * answer says something: what it costs that there are two.
 */
export const measureWorkers = async (args: readonly string[]): Promise<void> => {
  const option = (text: string) => ({ type: 'string', default: text }) as const;
  const options = { rounds: option('5'), seconds: option('4') };
  const { rounds, seconds } = parseArgs({ args: [...args], options }).values;
  const cores = allowedCores();
  const isFree = cores.length >= CORES;
  const pin = (...some: readonly (number | undefined)[]) => (isFree ? ['taskset', '-c', some.join()] : []);
  await using made = new AsyncDisposableStack();
  const redis = await launchRedis();
  made.defer(() => redis.stop());
  const upstream = made.use(
    await spawnGateway({}, 'scripts/bench/lookups/upstream.ts', pin(...cores.slice(3))),
  );
  const load = made.use(startHelper(new URL('load/load.ts', import.meta.url), pin(cores[2])));
  const subjects: Subject[] = [];
  for (const count of [1, 2])
    subjects.push(made.use(await subjectOf(redis.url, upstream.url, count, pin(cores[0], cores[1]))));
  print(
    isFree
      ? `The gateways have the cores ${cores[0]} and ${cores[1]}, the load core ${cores[2]}.`
      : `Expected ${CORES} cores, got ${cores.length}: the load takes its share, so rates say nothing.`,
  );
  for (const workload of WORKLOADS.filter(({ name }) => NAMES.includes(name)))
    await compare(subjects, workload, load, { rounds: Number(rounds), ms: 1000 * Number(seconds) });
  const memory = (pids: readonly number[]) => pids.map((pid) => whole(memoryOf(pid).mib)).join(' + ');
  for (const { title, pids, primary } of subjects)
    print(`${title}: ${memory(pids)} MiB${primary.length > 0 ? `, its primary ${memory(primary)}` : ''}`);
};
