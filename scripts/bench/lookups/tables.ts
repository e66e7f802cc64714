import type { Result } from './measure.ts';
import { type Ratio, type Report, ratioOf, ratiosOf, type WorkloadReport } from './report.ts';

/** A report as Markdown. A ratio is shown twice: by the answers a second, and by the CPU time that an answer took. */

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

/** What the titles of the gateway's lines begin with. */
const GATEWAY = 'this gateway, ';

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
  'core',
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
          decimals(result.serverBusy),
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
      const alone = resultsOf('W1').find(
        ({ subject, failure }) => subject === result.subject && failure === null,
      );
      return `${result.title}: ${name} is ${ratio(ratioOf(result, alone ?? null))} of W1`;
    }),
  );
};

/** The gateway's own results: a line a workload, and a cache that is cold or hot. */
export const gatewayTable = ({ workloads }: Report): string => {
  const rows = workloads.flatMap(({ name, results }) =>
    results
      .filter(({ title }) => title.startsWith(GATEWAY))
      .map((result) => [
        name,
        result.title.slice(GATEWAY.length),
        ...ratiosOf(result, results).map(ratio),
        decimals(result.p50Ms),
        decimals(result.p99Ms),
        decimals(result.maxMs),
      ]),
  );
  const head = [
    'measured',
    'pages',
    'of best peer',
    'of raw',
    'of raw, same pages',
    'p50 ms',
    'p99 ms',
    'max ms',
  ];
  return table([head, ...rows]);
};

/** All workloads: a line a subject, its rate in each. Then what a long life does to W1. */
export const summaryOf = (report: Report): string => {
  const { workloads, starts, memory } = report;
  const subjects = new Map(
    workloads.flatMap(({ results }) => results.map((result) => [result.subject, result])),
  );
  const rows = [...subjects.values()].map(({ subject, title, server }) => {
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
