import type { ExplorerReport, HealthReport, Reason } from '../server/http/health.ts';
import type { Launched } from './launch.ts';
import type { Exposition, MetricSnapshot } from './questions.ts';

/** What all workers of a machine say together. A balancer and a scrape reach any of them, and mean the machine. */

/** Sums the metrics of processes. */
export type MetricsSum = {
  /** Counts on what a process had counted that has ended. */
  keep(last: MetricSnapshot): void;
  /**
   * The sum of `current`. Of `silent`, which are the last ones of processes that do not answer now, only what was counted
   * holds. `exits` counts workers that have ended.
   */
  expose(
    current: readonly MetricSnapshot[],
    silent: readonly MetricSnapshot[],
    exits: number,
  ): Promise<Exposition>;
};

/** Longer than the check of a worker takes, and less than a balancer waits. */
const HEALTH_MS = 2200;
const METRICS_MS = 5000;

/**
 * The machine is as ready as its worst worker, since each gets its share of the connections. A worker that does not run gets
 * none, so while it is started again the machine is degraded.
 */
export const healthOf = async (workers: readonly Launched[], count: number): Promise<HealthReport> => {
  const reports = await Promise.all(
    workers.map(({ number, ask }) => ask('health', HEALTH_MS).catch(() => silenceOf(number))),
  );
  const missing = count - workers.length;
  const message = `${missing} of ${count} workers ${missing === 1 ? 'is' : 'are'} being started again`;
  const missed: readonly Reason[] = missing > 0 ? [{ part: 'workers', message }] : [];
  return {
    failed: withoutRepeats(reports.flatMap(({ failed }) => failed)),
    degraded: withoutRepeats([...reports.flatMap(({ degraded }) => degraded), ...missed]),
    ...explorersOf(reports),
  };
};

/** Each explorer once, of which every worker reads: nothing where none does. */
const explorersOf = (reports: readonly HealthReport[]): Pick<HealthReport, 'explorers'> => {
  const all = reports.flatMap(({ explorers = [] }) => explorers);
  if (all.length === 0) return {};
  return { explorers: [...Map.groupBy(all, ({ explorer }) => explorer).values()].flatMap(together) };
};

/** Requests add up. Credits and pauses are of all workers, and one that has asked for nothing of late knows them later. */
const together = (reports: readonly ExplorerReport[]): ExplorerReport[] => {
  const latest = reports.find(({ pause }) => pause !== undefined) ?? reports[0];
  if (latest === undefined) return [];
  const { credits, problem = reports.find((report) => report.problem !== undefined)?.problem } = latest;
  const lefts = reports.flatMap((report) => report.credits?.left ?? []);
  const byName = Map.groupBy(
    reports.flatMap(({ operations }) => operations),
    ({ operation }) => operation,
  );
  const report = {
    ...latest,
    requests: {
      waiting: sumOf(reports.map(({ requests }) => requests.waiting)),
      underWay: sumOf(reports.map(({ requests }) => requests.underWay)),
    },
    ...(credits && { credits: { ...credits, left: lefts.length === 0 ? null : Math.min(...lefts) } }),
    ...(problem !== undefined && { problem }),
    operations: [...byName].map(([operation, counts]) => ({
      operation,
      requests: sumOf(counts.map(({ requests }) => requests)),
      ...(credits && { credits: sumOf(counts.map((count) => count.credits ?? 0)) }),
    })),
  };
  return [report];
};

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

const silenceOf = (number: number): HealthReport => ({
  failed: [{ part: 'workers', message: `worker ${number} does not answer` }],
  degraded: [],
});

const withoutRepeats = (reasons: readonly Reason[]): readonly Reason[] => [
  ...new Map(reasons.map((reason) => [`${reason.part}: ${reason.message}`, reason])).values(),
];

export const metricsOf = async (
  workers: readonly Launched[],
  sum: MetricsSum,
  exits: number,
): Promise<Exposition> => {
  const silent = new Set<Launched>();
  const ask = async (worker: Launched): Promise<void> => {
    try {
      worker.lastMetrics = await worker.ask('metrics', METRICS_MS);
    } catch {
      silent.add(worker);
    }
  };
  await Promise.all(workers.map(ask));
  // What a worker has counted that has ended meanwhile is kept already.
  const left = workers.filter(({ isRunning }) => isRunning());
  const lastOf = (some: readonly Launched[]) => some.map(({ lastMetrics }) => lastMetrics);
  return sum.expose(
    lastOf(left.filter((worker) => !silent.has(worker))),
    lastOf(left.filter((worker) => silent.has(worker))),
    exits,
  );
};
