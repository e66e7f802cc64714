import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { median, print } from '../harness/figures.ts';
import { memoryOf, startHelper } from '../harness/processes.ts';
import { roundsIn } from './guard/turns.ts';
import { measureAblation } from './lookups/ablation.ts';
import { assertAgreement } from './lookups/answers.ts';
import { measureWorkload, warmUp } from './lookups/measure.ts';
import { chooseCores, PEERS_BY_NAME, startSubjects } from './lookups/subjects.ts';
import {
  gatewayTable,
  type Report,
  summaryOf,
  type WorkloadReport,
  workloadTable,
} from './lookups/tables.ts';
import { WORKLOADS } from './lookups/workloads.ts';

/** Those that are named, in their own order. All of them where the option is left out; none where it is empty. */
export const namesIn = <Name extends string>(
  option: string,
  value: string | undefined,
  names: readonly Name[],
) => {
  if (value === undefined) return names;
  const given = value.split(',').filter(Boolean);
  const unknown = given.filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0)
    throw new Error(`${option}: expected some of ${names.join(', ')}, got ${unknown.join(', ')}`);
  return names.filter((name) => given.includes(name));
};

const positive = (option: string, value: string): number => {
  if (!(Number(value) > 0)) throw new Error(`${option}: expected a number above 0, got ${value}`);
  return Number(value);
};

/** Throws for an option that is unknown, and for a value that is not allowed. */
const readOptions = (args: readonly string[]) => {
  const string = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: string,
      peers: string,
      rounds: string,
      seconds: { type: 'string', default: '3' },
      json: string,
      ablation: { type: 'boolean', default: false },
    },
  });
  const names = WORKLOADS.map(({ name }) => name);
  const only = namesIn('--only', values.only, names);
  return {
    workloads: WORKLOADS.filter(({ name }) => only.includes(name)),
    peers: namesIn('--peers', values.peers, Object.keys(PEERS_BY_NAME) as (keyof typeof PEERS_BY_NAME)[]),
    rounds: values.ablation ? roundsIn(values.rounds ?? '6') : positive('--rounds', values.rounds ?? '3'),
    seconds: positive('--seconds', values.seconds),
    json: values.json,
    ablation: values.ablation,
  };
};

/**
 * How many lookups a second the gateway answers, cold and hot, beside its peers and a raw byte proxy. Each server is a
 * process of its own, over one static upstream. The server that is measured has one core; the load has another one, where
 * the machine has it. The servers take turns in each workload. An answer counts when it is whole and of status 200; some
 * are parsed, and a workload with a wrong one is reported as failed. docs/performance.md says what the workloads are.
 */
export const measureLookups = async (args: readonly string[]): Promise<void> => {
  const { rounds, seconds, json, ...options } = readOptions(args);
  if (options.ablation) return measureAblation(options.workloads, rounds);
  const cores = chooseCores();
  await using made = new AsyncDisposableStack();
  const upstream = made.use(await spawnGateway({}, 'scripts/bench/lookups/upstream.ts', cores.upstream));
  const helper = made.use(startHelper(new URL('load/load.ts', import.meta.url), cores.load));
  const pids = cores.loadHasUpstream ? [helper.pid, upstream.child.pid ?? 0] : [helper.pid];
  const { subjects, starts } = await startSubjects(options.peers, rounds, upstream.url, cores.server, made);
  const compared = WORKLOADS.filter(
    (workload, index) => workload.compared !== null && (index === 0 || options.workloads.includes(workload)),
  );
  for (const workload of compared) await assertAgreement(subjects, workload);
  const names = compared.map(({ name }) => name).join(', ');
  print(`All servers answer ${names} with the same data. ${rounds} rounds of ${seconds} s, medians.`);

  const load = { helper, pids };
  for (const workload of options.workloads) await warmUp(workload, subjects, load);
  const workloads: WorkloadReport[] = [];
  for (const workload of options.workloads) {
    const { name, title } = workload;
    const results = await measureWorkload(workload, subjects, load, { rounds, seconds });
    workloads.push({ name, title, results });
    print(`\n${workloadTable({ name, title, results })}`);
  }
  const report: Report = {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      node: process.version,
      pinned: cores.server.length > 0,
    },
    rounds,
    seconds,
    workloads,
    starts: Object.fromEntries(Object.entries(starts).map(([name, times]) => [name, median(times)])),
    memory: Object.fromEntries(subjects.map(({ server: { name, pid } }) => [name, memoryOf(pid)])),
  };
  print(`\n${summaryOf(report)}\n\n${gatewayTable(report)}`);
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 2)}\n`);
};
