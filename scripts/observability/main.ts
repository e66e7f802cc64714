import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { createLog } from '../../src/lib/log.ts';
import { createTelemetry } from '../../src/telemetry/telemetry.ts';
import { generator, ROOT } from '../checks/generated.ts';
import { type MetricFamily, OVERVIEW, type Panel, PROCESS, panelOf } from './panels.ts';
import { alertsTable, fillIn, metricsTable } from './tables.ts';

/**
 * Writes Grafana's dashboard (what is looked at first, a panel for each metric of the gateway, and the process), and the tables
 * of metrics and alerts in docs/metrics.md.
 */

const save = generator('observability');

/** What prom-client keeps of a metric's declaration, which its types do not have in whole. */
type Declared = Omit<MetricFamily, 'labels'> & { readonly labelNames: readonly string[] };

/** The gateway's own metrics in the order of `/metrics`, without those of the process and of Node. */
const metricFamilies = (): readonly MetricFamily[] => {
  const registry = new Registry();
  const log = createLog('error', () => {});
  createTelemetry({
    log,
    cacheBytes: () => 0,
    traces: null,
    resources: [],
    version: '',
    worker: null,
    registry,
  });
  const declared = registry.getMetricsAsArray() as unknown as readonly Declared[];
  return declared
    .filter(({ name }) => name.startsWith('gateway_'))
    .map(({ labelNames: labels, ...family }) => ({ ...family, labels }));
};

type Row = { readonly title: string; readonly panels: readonly Panel[]; readonly isCollapsed: boolean };

/** The rows of the metrics, by the beginning of their names. Any other metric is in the last one. */
const ROWS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Operations', /^gateway_(?:operation|compute_unit|shared_answers|unchanged)/],
  ['Clients and tenants', /^gateway_(?:client|tenant)_/],
  ['Upstream', /^gateway_upstream_/],
  ['Pages', /^gateway_(?:page_cache|shared)_/],
  ['Deliveries and their log', /^gateway_(?:deliver|log_|webhook_)/],
  ['Subscriptions', /^gateway_(?:event|reader)/],
  ['HTTP and WebSocket', /^gateway_(?:http|websocket|connection)/],
  ['Redis', /^gateway_redis_/],
  ['Index of chains', /^gateway_index_/],
  ['Explorers of chains', /^gateway_explorer_/],
  ['Other', /^/],
];

const rowsOf = (families: readonly MetricFamily[]): readonly Row[] => {
  const byTitle = Map.groupBy(families, ({ name }) => ROWS.find(([, names]) => names.test(name))?.[0]);
  const ofMetrics = ROWS.map(([title]) => ({
    title,
    panels: (byTitle.get(title) ?? []).map(panelOf),
    isCollapsed: true,
  }));
  return [
    { title: 'At a glance', panels: OVERVIEW, isCollapsed: false },
    ...ofMetrics.filter(({ panels }) => panels.length > 0),
    { title: 'Process', panels: PROCESS, isCollapsed: true },
  ];
};

const datasource = { type: 'prometheus', uid: '$datasource' };

const [COLUMNS, WIDTH, HEIGHT] = [3, 8, 8];

/** Grafana's panels have ids, and places on a grid of 24 columns. */
const layOut = (rows: readonly Row[]): readonly object[] => {
  let id = 0;
  let y = 0;
  return rows.flatMap(({ title, panels, isCollapsed }): object[] => {
    const row = { type: 'row', id: ++id, title, collapsed: isCollapsed, gridPos: { h: 1, w: 24, x: 0, y } };
    y += 1;
    const placed = panels.map(({ title, description, unit, targets }, index) => {
      const [x, row] = [(index % COLUMNS) * WIDTH, Math.floor(index / COLUMNS)];
      return {
        ...{ type: 'timeseries', id: ++id, title, description, datasource },
        gridPos: { h: HEIGHT, w: WIDTH, x, y: y + row * HEIGHT },
        fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
        options: {
          legend: { displayMode: 'list', placement: 'bottom' },
          tooltip: { mode: 'multi', sort: 'desc' },
        },
        targets: Object.entries(targets).map(([legendFormat, expr], target) => ({
          refId: String.fromCharCode(65 + target),
          ...{ datasource, expr, legendFormat },
        })),
      };
    });
    // A collapsed row has its panels within it.
    if (isCollapsed) return [{ ...row, panels: placed }];
    y += Math.ceil(panels.length / COLUMNS) * HEIGHT;
    return [{ ...row, panels: [] }, ...placed];
  });
};

/** A variable of the dashboard: all of a label's values, each of which can be chosen. */
const labelVariable = (name: string, query: string): object => ({
  ...{ name, type: 'query', datasource, query: { query, refId: name } },
  ...{ refresh: 2, multi: true, includeAll: true, allValue: '.*' },
  current: { text: 'All', value: '$__all' },
});

const families = metricFamilies();

const dashboard = {
  uid: 'evm-graphql-gateway',
  title: 'EVM GraphQL gateway',
  description:
    'Written by `npm run observability` from the metrics of the gateway. docs/metrics.md explains them.',
  tags: ['graphql'],
  schemaVersion: 39,
  timezone: 'browser',
  refresh: '30s',
  time: { from: 'now-1h', to: 'now' },
  graphTooltip: 1,
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus', current: {} },
      labelVariable('job', 'label_values(gateway_build_info, job)'),
      labelVariable('instance', 'label_values(gateway_build_info{job=~"$job"}, instance)'),
    ],
  },
  panels: layOut(rowsOf(families)),
};

await save('deploy/grafana/dashboard.json', `${JSON.stringify(dashboard, null, 2)}\n`);

const [metrics, rules] = await Promise.all(
  ['docs/metrics.md', 'deploy/prometheus/alerts.yaml'].map((path) => readFile(join(ROOT, path), 'utf8')),
);
const withMetrics = fillIn(metrics ?? '', 'metrics', metricsTable(families));
await save('docs/metrics.md', fillIn(withMetrics, 'alerts', alertsTable(rules ?? '')));
