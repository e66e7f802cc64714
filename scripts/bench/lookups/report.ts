import type { Result } from './measure.ts';

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
  /** Resident memory of each server after all workloads, in MiB. */
  readonly memory: Readonly<Record<string, { readonly mib: number; readonly peakMib: number }>>;
};

const PEERS: readonly string[] = ['mercurius', 'yoga-jit', 'yoga'];

/** How two results compare: by the answers a second, and by the CPU time that an answer took. */
type Ratio = { readonly byRate: number; readonly byCpu: number };

const ratioOf = (result: Result, other: Result | undefined): Ratio | null =>
  other === undefined || result.failure !== null || other.failure !== null
    ? null
    : { byRate: result.rate / other.rate, byCpu: other.cpuMicros / result.cpuMicros };

const ratiosOf = (result: Result, results: readonly Result[]): readonly (Ratio | null)[] => {
  const named = (name: string) => results.find(({ subject }) => subject === name);
  const [bestPeer] = results
    .filter(({ subject, failure }) => PEERS.includes(subject) && failure === null)
    .toSorted((one, other) => other.rate - one.rate);
  return [bestPeer, named('raw'), named('raw-pages') ?? named('raw')].map((other) => ratioOf(result, other));
};

const isNumeric = (column: number): boolean => column > 0;

const table = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    isNumeric(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  const line = (cells: readonly string[]) => `| ${cells.map(padded).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
};

const decimals = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : '–');
const ratio = (value: Ratio | null): string =>
  value === null ? '–' : `${decimals(value.byRate)} · ${decimals(value.byCpu)}`;
const count = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '–';

/** The load's share of a core from which it may be what limits the rate. */
const LIMITING = 0.9;

const notesOn = ({ title, failure, serverBusy, loadBusy }: Result): readonly string[] => {
  if (failure !== null) return [`${title} failed: ${failure}`];
  return loadBusy > LIMITING && serverBusy < LIMITING
    ? [`${title}: the load may have been the limit, so compare by CPU time.`]
    : [];
};

const COLUMNS = [
  'req/s',
  'p50 ms',
  'p99 ms',
  'max ms',
  'CPU µs',
  'of best peer',
  'of raw',
  'of raw, same pages',
];

/** One workload: a line a subject, a Markdown table. */
export const tableOf = ({ name, title, results }: WorkloadReport): string => {
  const rows = results.map((result) =>
    result.failure === null
      ? [
          result.title,
          count(result.rate),
          ...[result.p50Ms, result.p99Ms, result.maxMs].map(decimals),
          count(result.cpuMicros),
          ...ratiosOf(result, results).map(ratio),
        ]
      : [result.title, 'failed', ...COLUMNS.slice(1).map(() => '–')],
  );
  return [`${name}: ${title}`, table([[name, ...COLUMNS], ...rows]), ...results.flatMap(notesOn)].join('\n');
};

/** W1 alone, in the processes that answer it in other workloads too. */
const OTHER_W1 = ['mixed', 'again'];

const comparedWithW1 = ({ workloads }: Report): readonly string[] => {
  const resultsOf = (name: string) => workloads.find((workload) => workload.name === name)?.results ?? [];
  return OTHER_W1.flatMap((name) =>
    resultsOf(name).map((result) => {
      const alone = resultsOf('W1').find(({ subject }) => subject === result.subject);
      return `${result.title}: ${name} is ${ratio(ratioOf(result, alone))} of W1`;
    }),
  );
};

/** All workloads: a line a subject, its rate in each. Then what a long life does to W1. */
export const summaryOf = (report: Report): string => {
  const { workloads, starts, memory } = report;
  const titles = new Map(
    workloads.flatMap(({ results }) => results.map(({ subject, title }) => [subject, title])),
  );
  const rows = [...titles].map(([subject, title]) => {
    const server = subject.startsWith('hot-') ? 'hot' : subject.replace(/-pages$/, '');
    const rates = workloads.map(({ results }) => {
      const result = results.find((candidate) => candidate.subject === subject);
      if (result === undefined) return '–';
      return result.failure === null ? count(result.rate) : 'failed';
    });
    return [title, ...rates, count(memory[server]?.mib ?? Number.NaN), count(starts[server] ?? Number.NaN)];
  });
  const head = ['req/s', ...workloads.map(({ name }) => name), 'RSS MiB', 'start ms'];
  return [table([head, ...rows]), ...comparedWithW1(report)].join('\n');
};
