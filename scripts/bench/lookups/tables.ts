import { decimals, tableOf, whole } from '../../harness/figures.ts';
import type { memoryOf } from '../../harness/processes.ts';
import type { Result } from './measure.ts';

/** A report as Markdown. A ratio is shown twice: by the answers a second, and by the CPU time that an answer took. */

export type WorkloadReport = {
  readonly name: string;
  readonly title: string;
  readonly results: readonly Result[];
};

/** What one run has measured. */
export type Report = {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly node: string;
    /** Whether the server and the load had a core each. */
    readonly pinned: boolean;
  };
  readonly rounds: number;
  readonly seconds: number;
  readonly workloads: readonly WorkloadReport[];
  /** From the start of each server to its first answer, in milliseconds: the median of its starts. */
  readonly starts: Readonly<Record<string, number>>;
  /** Of each server after all workloads. */
  readonly memory: Readonly<Record<string, ReturnType<typeof memoryOf>>>;
};

const PEERS: readonly string[] = ['mercurius', 'yoga-jit', 'yoga'];

/** How a result compares with another one; a dash where one of them has failed, or is not there. */
const ratio = (result: Result, other: Pick<Result, 'rate' | 'cpuMicros'> | undefined): string =>
  other === undefined || result.failure !== null
    ? '–'
    : `${decimals(result.rate / other.rate)} · ${decimals(other.cpuMicros / result.cpuMicros)}`;

/** Of the best peer; of the raw proxy of the bytes that a peer asks for; of that of the gateway's pages. */
const ratiosOf = (result: Result, results: readonly Result[]): readonly string[] => {
  const counted = results.filter(({ failure }) => failure === null);
  const named = (name: string) => counted.find(({ subject }) => subject === name);
  const peers = counted.filter(({ subject }) => PEERS.includes(subject));
  const best = peers.length > 0 && {
    rate: Math.max(...peers.map(({ rate }) => rate)),
    cpuMicros: Math.min(...peers.map(({ cpuMicros }) => cpuMicros)),
  };
  // Pages of a free service are about as large as what a peer asks for.
  const samePages = result.subject === 'free' ? undefined : named('raw-pages');
  const others = [best || undefined, named('raw'), samePages ?? named('raw')];
  return others.map((other) => ratio(result, other));
};

const RATIOS = ['of best peer', 'of raw', 'of raw, same pages'];
const TIMES = ['p50 ms', 'p99 ms', 'max ms'];
const timesOf = ({ p50Ms, p99Ms, maxMs }: Result) => [p50Ms, p99Ms, maxMs].map((ms) => decimals(ms));

/** The load's share of a core from which it may be what limits the rate. */
const LIMITING = 0.9;

const notesOn = ({ title, failure, serverBusy, loadBusy }: Result): readonly string[] => {
  if (failure !== null) return [`${title} failed: ${failure}`];
  return loadBusy > LIMITING && serverBusy < LIMITING
    ? [`${title}: the load may have been the limit, so compare by CPU time.`]
    : [];
};

/** One workload: a line a subject. */
export const workloadTable = ({ name, title, results }: WorkloadReport): string => {
  const head = [name, 'req/s', ...TIMES, 'CPU µs', 'core', ...RATIOS];
  const rows = results.map((result) =>
    result.failure === null
      ? [
          result.title,
          whole(result.rate),
          ...timesOf(result),
          whole(result.cpuMicros),
          decimals(result.serverBusy),
          ...ratiosOf(result, results),
        ]
      : [result.title, 'failed', ...head.slice(2).map(() => '–')],
  );
  return [`${name}: ${title}`, tableOf([head, ...rows]), ...results.flatMap(notesOn)].join('\n');
};

/** What the titles of the gateway's lines begin with. */
const GATEWAY = 'this gateway, ';

/** The gateway's own results: a line a workload, and a cache that is cold or hot. */
export const gatewayTable = ({ workloads }: Report): string =>
  tableOf([
    ['measured', 'pages', ...RATIOS, ...TIMES],
    ...workloads.flatMap(({ name, results }) =>
      results
        .filter(({ title }) => title.startsWith(GATEWAY))
        .map((result) => [
          name,
          result.title.slice(GATEWAY.length),
          ...ratiosOf(result, results),
          ...timesOf(result),
        ]),
    ),
  ]);

/** By another workload that has the same operations, in the same processes. */
const ALONE: Readonly<Record<string, string>> = {
  mixed: 'W1',
  W2ws: 'W2',
  W5ws: 'W5',
};

/** All workloads: a line a subject, its rate in each. Then workloads beside those of the same operations. */
export const summaryOf = ({ workloads, starts, memory }: Report): string => {
  const resultOf = (workload: string, subject: string) =>
    workloads.find(({ name }) => name === workload)?.results.find((result) => result.subject === subject);
  const subjects = new Map(
    workloads.flatMap(({ results }) => results.map((result) => [result.subject, result])),
  );
  const rows = [...subjects.values()].map(({ subject, title, server }) => {
    const rates = workloads.map(({ name }) => {
      const result = resultOf(name, subject);
      return result?.failure ? 'failed' : whole(result?.rate ?? Number.NaN);
    });
    return [title, ...rates, whole(memory[server]?.mib ?? Number.NaN), whole(starts[server] ?? Number.NaN)];
  });
  const compared = workloads
    .filter(({ name }) => Object.hasOwn(ALONE, name))
    .flatMap(({ name, results }) =>
      results.map((result) => {
        const alone = resultOf(ALONE[name] ?? '', result.subject);
        const other = alone?.failure === null ? alone : undefined;
        return `${result.title}: ${name} is ${ratio(result, other)} of ${ALONE[name]}`;
      }),
    );
  const head = ['req/s', ...workloads.map(({ name }) => name), 'RSS MiB', 'start ms'];
  return [tableOf([head, ...rows]), ...compared].join('\n');
};
