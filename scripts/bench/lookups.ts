import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { chooseCores, type Pin } from './lookups/cores.ts';
import { measureWorkload } from './lookups/measure.ts';
import { readOptions } from './lookups/options.ts';
import { memoryOf } from './lookups/processes.ts';
import type { Report, WorkloadReport } from './lookups/report.ts';
import { installPeers } from './lookups/servers.ts';
import { assertAgreement, startSubjects } from './lookups/subjects.ts';
import { gatewayTable, summaryOf, tableOf } from './lookups/tables.ts';
import { median } from './processes.ts';

/**
 * How many lookups a second the gateway answers, cold and hot, beside its peers and a raw byte proxy. Each server is a
 * process of its own, over one static upstream. The server that is measured has one core; the load has another one, where
 * the machine has it. The servers take turns in each workload. An answer counts when it is whole and of status 200; some
 * are parsed, and a workload with a wrong one is reported as failed. docs/performance.md says what the workloads are.
 */
export const measureLookups = async (args: readonly string[]): Promise<void> => {
  const options = readOptions(args);
  const { rounds, seconds, peers } = options;
  if (peers.some((name) => name !== 'raw')) installPeers();
  const cores = chooseCores();
  await using made = new AsyncDisposableStack();
  const upstream = made.use(await spawnGateway({}, 'scripts/bench/lookups/upstream.ts', cores.upstream));
  const load = startLoad(cores.load);
  made.defer(() => void load.kill());
  const onLoadCore = cores.loadHasUpstream ? [load, upstream.child] : [load];
  const loadPids = onLoadCore.map(({ pid }) => pid ?? 0);
  const { subjects, starts } = await startSubjects(peers, rounds, upstream.url, cores, made);
  await assertAgreement(subjects);
  print(`All servers answer W1 with the same data. ${rounds} rounds of ${seconds} s, medians.`);

  const workloads: WorkloadReport[] = [];
  for (const workload of options.workloads) {
    const { name, title } = workload;
    const results = await measureWorkload(workload, subjects, { child: load, pids: loadPids }, options);
    workloads.push({ name, title, results });
    print(`\n${tableOf({ name, title, results })}`);
  }
  const servers = new Map(subjects.map(({ serverName, server }) => [serverName, server]));
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
    starts: Object.fromEntries([...starts].map(([name, times]) => [name, median(times)])),
    memory: Object.fromEntries([...servers].map(([name, { pid }]) => [name, memoryOf(pid)])),
  };
  print(`\n${summaryOf(report)}\n\n${gatewayTable(report)}`);
  if (options.json !== null) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
};

const startLoad = (pin: Pin): ChildProcess => {
  const program = fileURLToPath(new URL('lookups/load.ts', import.meta.url));
  const [command = process.execPath, ...args] = [...pin, process.execPath, program];
  return spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
};

const print = (text: string): boolean => process.stdout.write(`${text}\n`);
