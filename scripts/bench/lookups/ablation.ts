import process from 'node:process';
import { READ_LAYERS } from '../../../src/app/startup.ts';
import { spawnGateway } from '../../../test/support/gateway/spawn.ts';
import { decimals, median, print, tableOf } from '../../harness/figures.ts';
import { startHelper } from '../../harness/processes.ts';
import { answering, type Cost, measureInTurns } from '../guard/turns.ts';
import { judge } from '../guard/verdict.ts';
import { chooseCores, GATEWAYS, HOT_WALLETS, startServer } from './subjects.ts';
import type { Workload } from './workloads.ts';

/** The ways to read that lack a layer: see `ReadPath`. */
export const ABLATIONS = [...READ_LAYERS.map((layer) => `no-${layer}`), 'plain'];

/** A workload of pages that are cold or hot, with what it has cost in each round: the whole gateway first, then each way. */
type Case = { readonly name: string; readonly workload: Workload; readonly costs: (readonly Cost[])[] };

const PAGES = ['cold', 'hot'] as const;

/**
 * What each layer of reads is worth: what an answer costs without it, as a multiple of what the whole gateway takes. In each
 * round all start anew, on the same core, and take turns. One ratio is that of a round; an interval of all rounds' decides.
 */
export const measureAblation = async (workloads: readonly Workload[], rounds: number): Promise<void> => {
  await using made = new AsyncDisposableStack();
  const cores = chooseCores();
  const upstream = made.use(await spawnGateway({}, 'scripts/bench/lookups/upstream.ts', cores.upstream));
  const load = made.use(startHelper(new URL('../load/load.ts', import.meta.url), cores.load));
  const casesOf = (pages: (typeof PAGES)[number]): readonly Case[] =>
    workloads
      .filter(({ hot }) => hot || pages === 'cold')
      .map((workload) => ({ name: `${workload.name} ${pages}`, workload, costs: [] }));
  const all = PAGES.map((pages) => ({ pages, cases: casesOf(pages) })).filter(
    ({ cases }) => cases.length > 0,
  );
  for (let round = 0; round < rounds; round += 1)
    for (const { pages, cases } of all) {
      await using roundMade = new AsyncDisposableStack();
      const { entry, env } = GATEWAYS[pages];
      const servers = [];
      for (const path of ['fast', ...ABLATIONS]) {
        const launch = { title: path, entry, env: { ...env, READ_PATH: path } };
        servers.push(roundMade.use(await startServer(path, launch, upstream.url, cores.server)));
      }
      const wallets = pages === 'hot' ? HOT_WALLETS : null;
      for (const { name, workload, costs } of cases) {
        costs.push(await measureInTurns(servers.map((server) => answering(workload, server, load, wallets))));
        process.stderr.write(`round ${round + 1} of ${rounds}: ${name}\n`);
      }
    }
  print(ablationTable(all.flatMap(({ cases }) => cases)));
};

/** A line a way, and a column a case: the CPU time of an answer with its interval, and the rate, of those of the whole gateway. */
export const ablationTable = (cases: readonly Omit<Case, 'workload'>[]): string => {
  const shareOf = (costs: readonly (readonly Cost[])[], way: number): string => {
    const of = (figure: keyof Cost) =>
      costs.map((cost) => (cost[way]?.[figure] ?? Number.NaN) / (cost[0]?.[figure] ?? Number.NaN));
    const { low, middle, high } = judge(of('cpuMicros'));
    return `${decimals(middle)} (${decimals(low)} to ${decimals(high)}) · ${decimals(median(of('rate')))}`;
  };
  const wholeOf = (costs: readonly (readonly Cost[])[]): string =>
    `${decimals(median(costs.map(([whole]) => whole?.cpuMicros ?? Number.NaN)), 1)} µs`;
  return tableOf([
    ['way', ...cases.map(({ name }) => name)],
    ['whole', ...cases.map(({ costs }) => wholeOf(costs))],
    ...ABLATIONS.map((path, index) => [path, ...cases.map(({ costs }) => shareOf(costs, index + 1))]),
  ]);
};
