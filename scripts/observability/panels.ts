/** A metric as the gateway declares it. */
export type MetricFamily = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
};

/** A panel of the dashboard, before it has its place. */
export type Panel = {
  readonly title: string;
  readonly description: string;
  /** Grafana's name of the unit. */
  readonly unit: string;
  /** Expressions by their legends. */
  readonly targets: Readonly<Record<string, string>>;
};

/** What the dashboard's variables choose. */
const CHOSEN = 'job=~"$job", instance=~"$instance"';

const select = (name: string, matchers = ''): string =>
  `${name}{${matchers === '' ? CHOSEN : `${CHOSEN}, ${matchers}`}}`;

const rate = (name: string, matchers = ''): string => `rate(${select(name, matchers)}[$__rate_interval])`;

const legendOf = (labels: readonly string[]): string => labels.map((label) => `{{${label}}}`).join(' ');

const quantiles = (bucket: string, by: readonly string[], legend = ''): Panel['targets'] =>
  Object.fromEntries(
    [0.5, 0.99].map((quantile) => [
      `${legend} p${quantile * 100}`.trim(),
      `histogram_quantile(${quantile}, sum by (${['le', ...by].join(', ')}) (${bucket}))`,
    ]),
  );

/** `gateway_upstream_queue_seconds` is `Upstream queue`. */
const titleOf = (name: string): string => {
  const words = name.replace(/^gateway_/, '').replace(/(?:_total|_timestamp|_seconds|_bytes)+$/, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1).replaceAll('_', ' ')}`;
};

/** The panel of one metric: a counter by its labels per second, a gauge by instance, quantiles of a histogram. */
export const panelOf = ({ name, type, help: description, labels }: MetricFamily): Panel => {
  const title = titleOf(name);
  const bytes = name.includes('_bytes');
  if (type === 'histogram') {
    const targets = quantiles(rate(`${name}_bucket`), labels, legendOf(labels));
    const unit = name.endsWith('_seconds') ? 's' : 'short';
    return { title: `${title}: median and 99th percentile`, description, unit, targets };
  }
  if (name.endsWith('_timestamp_seconds')) {
    const targets = { [legendOf(['instance', ...labels])]: `time() - ${select(name)}` };
    return { title: `${title}: seconds ago`, description, unit: 's', targets };
  }
  if (type === 'gauge') {
    const targets = { [legendOf(['instance', ...labels])]: select(name) };
    return { title, description, unit: bytes ? 'bytes' : 'short', targets };
  }
  const by = labels.length > 0 ? labels : ['instance'];
  const targets = { [legendOf(by)]: `sum by (${by.join(', ')}) (${rate(name)})` };
  return { title: `${title} per second`, description, unit: bytes ? 'Bps' : 'cps', targets };
};

const panel = (title: string, description: string, unit: string, targets: Panel['targets']): Panel => ({
  title,
  description,
  unit,
  targets,
});

/** What is looked at first. */
export const OVERVIEW: readonly Panel[] = [
  panel(
    'Operations per second',
    'All operations, and those that failed: neither OK nor left by their client.',
    'ops',
    {
      all: `sum(${rate('gateway_operations_total')})`,
      failed: `sum(${rate('gateway_operations_total', 'code!~"OK|ABANDONED"')})`,
    },
  ),
  panel(
    'Time of an operation',
    'Queries and mutations, on all transports.',
    's',
    quantiles(rate('gateway_operation_duration_seconds_bucket', 'type!="subscription"'), []),
  ),
  panel(
    'Compute units per hour',
    'What the service bills, by resource, at the rate of the last hour.',
    'short',
    {
      '{{resource}}': `sum by (resource) (rate(${select('gateway_upstream_compute_units_total')}[1h])) * 3600`,
    },
  ),
  panel(
    'Pages without a request',
    'The part of the pages that operations requested for which the gateway made no request.',
    'percentunit',
    {
      'without a request': `sum(${rate('gateway_page_cache_requests_total', 'result!="miss"')}) / sum(${rate('gateway_page_cache_requests_total')})`,
    },
  ),
  panel(
    'Deliveries per second',
    'By outcome: stored, duplicate, or the HTTP status of their rejection.',
    'cps',
    { '{{outcome}}': `sum by (outcome) (${rate('gateway_deliveries_total')})` },
  ),
  panel('Slowest subscriber', 'Deliveries that it has not read yet.', 'short', {
    deliveries: `max(${select('gateway_reader_lag_deliveries')})`,
  }),
];

/** The process, as prom-client describes it. */
export const PROCESS: readonly Panel[] = [
  panel('CPU', 'Cores that the process uses.', 'short', {
    '{{instance}}': rate('process_cpu_seconds_total'),
  }),
  panel('Memory', 'Resident memory, and the part of it that is the heap of V8.', 'bytes', {
    '{{instance}} resident': select('process_resident_memory_bytes'),
    '{{instance}} heap': select('nodejs_heap_size_used_bytes'),
  }),
  panel('Delay of the event loop', 'Its 99th percentile since the last scrape.', 's', {
    '{{instance}}': select('nodejs_eventloop_lag_p99_seconds'),
  }),
  panel('Garbage collection', 'The part of the time that it takes, by kind.', 'percentunit', {
    '{{instance}} {{kind}}': `sum by (instance, kind) (${rate('nodejs_gc_duration_seconds_sum')})`,
  }),
];
