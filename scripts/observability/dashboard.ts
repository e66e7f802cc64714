import type { MetricFamily } from './metrics.ts';

/** A panel of the dashboard, before it has its place. */
export type Panel = {
  readonly title: string;
  readonly description: string;
  /** Grafana's name of the unit. */
  readonly unit: string;
  readonly targets: readonly { readonly expr: string; readonly legend: string }[];
};

/** What the dashboard's variables choose. */
const CHOSEN = 'job=~"$job", instance=~"$instance"';

const select = (name: string, matchers = ''): string =>
  `${name}{${matchers === '' ? CHOSEN : `${CHOSEN}, ${matchers}`}}`;

const rate = (name: string, matchers = ''): string => `rate(${select(name, matchers)}[$__rate_interval])`;

const legendOf = (labels: readonly string[]): string => labels.map((label) => `{{${label}}}`).join(' ');

/** `gateway_upstream_queue_seconds` is `Upstream queue`. */
const titleOf = (name: string): string => {
  const words = name.replace(/^gateway_/, '').replace(/(?:_total|_seconds|_bytes)+$/, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1).replaceAll('_', ' ')}`;
};

const QUANTILES = [0.5, 0.99];

/** The panel of one metric: a counter by its labels per second, a gauge by instance, quantiles of a histogram. */
export const panelOf = ({ name, type, help, labels }: MetricFamily): Panel => {
  const bytes = name.includes('_bytes');
  if (type === 'histogram') {
    const by = ['le', ...labels].join(', ');
    return {
      title: `${titleOf(name)}: median and 99th percentile`,
      description: help,
      unit: 's',
      targets: QUANTILES.map((quantile) => ({
        expr: `histogram_quantile(${quantile}, sum by (${by}) (${rate(`${name}_bucket`)}))`,
        legend: `${legendOf(labels)} p${quantile * 100}`.trim(),
      })),
    };
  }
  const by = labels.length > 0 ? labels : ['instance'];
  return type === 'counter'
    ? {
        title: `${titleOf(name)} per second`,
        description: help,
        unit: bytes ? 'Bps' : 'cps',
        targets: [{ expr: `sum by (${by.join(', ')}) (${rate(name)})`, legend: legendOf(by) }],
      }
    : {
        title: titleOf(name),
        description: help,
        unit: bytes ? 'bytes' : 'short',
        targets: [{ expr: select(name), legend: legendOf(['instance', ...labels]) }],
      };
};

/** What is looked at first. */
export const OVERVIEW: readonly Panel[] = [
  {
    title: 'Operations per second',
    description: 'All operations, and those that failed: neither OK nor left by their client.',
    unit: 'ops',
    targets: [
      { expr: `sum(${rate('gateway_operations_total')})`, legend: 'all' },
      { expr: `sum(${rate('gateway_operations_total', 'code!~"OK|ABANDONED"')})`, legend: 'failed' },
    ],
  },
  {
    title: 'Time of an operation',
    description: 'Queries and mutations, on all transports.',
    unit: 's',
    targets: QUANTILES.map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (${rate('gateway_operation_duration_seconds_bucket', 'type!="subscription"')}))`,
      legend: `p${quantile * 100}`,
    })),
  },
  {
    title: 'Compute units per hour',
    description: 'What the service bills, by resource, at the rate of the last hour.',
    unit: 'short',
    targets: [
      {
        expr: `sum by (resource) (rate(${select('gateway_upstream_compute_units_total')}[1h])) * 3600`,
        legend: '{{resource}}',
      },
    ],
  },
  {
    title: 'Pages without a request',
    description: 'The part of the pages that operations requested for which the gateway made no request.',
    unit: 'percentunit',
    targets: [
      {
        expr: `sum(${rate('gateway_page_cache_requests_total', 'result!="miss"')}) / sum(${rate('gateway_page_cache_requests_total')})`,
        legend: 'without a request',
      },
    ],
  },
  {
    title: 'Deliveries per second',
    description: 'By outcome: stored, duplicate, or the HTTP status of their rejection.',
    unit: 'cps',
    targets: [{ expr: `sum by (outcome) (${rate('gateway_deliveries_total')})`, legend: '{{outcome}}' }],
  },
  {
    title: 'Slowest subscriber',
    description: 'Deliveries that it has not read yet.',
    unit: 'short',
    targets: [{ expr: `max(${select('gateway_reader_lag_deliveries')})`, legend: 'deliveries' }],
  },
];

/** The process, as prom-client describes it. */
export const PROCESS: readonly Panel[] = [
  {
    title: 'CPU',
    description: 'Cores that the process uses.',
    unit: 'short',
    targets: [{ expr: rate('process_cpu_seconds_total'), legend: '{{instance}}' }],
  },
  {
    title: 'Memory',
    description: 'Resident memory, and the part of it that is the heap of V8.',
    unit: 'bytes',
    targets: [
      { expr: select('process_resident_memory_bytes'), legend: '{{instance}} resident' },
      { expr: select('nodejs_heap_size_used_bytes'), legend: '{{instance}} heap' },
    ],
  },
  {
    title: 'Delay of the event loop',
    description: 'Its 99th percentile since the last scrape.',
    unit: 's',
    targets: [{ expr: select('nodejs_eventloop_lag_p99_seconds'), legend: '{{instance}}' }],
  },
  {
    title: 'Garbage collection',
    description: 'The part of the time that it takes, by kind.',
    unit: 'percentunit',
    targets: [
      {
        expr: `sum by (instance, kind) (${rate('nodejs_gc_duration_seconds_sum')})`,
        legend: '{{instance}} {{kind}}',
      },
    ],
  },
];
