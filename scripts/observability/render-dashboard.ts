import { OVERVIEW, type Panel, PROCESS, panelOf } from './dashboard.ts';
import type { MetricFamily } from './metrics.ts';

type Row = { readonly title: string; readonly panels: readonly Panel[]; readonly isCollapsed: boolean };

/** The rows of the metrics, by the beginning of their names. Any other metric is in the last one. */
const ROWS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Operations', /^gateway_(?:operation|compute_unit|shared_answers|unchanged)/],
  ['Upstream', /^gateway_upstream_/],
  ['Pages', /^gateway_(?:page_cache|shared)_/],
  ['Deliveries and their log', /^gateway_(?:deliver|log_)/],
  ['Subscriptions', /^gateway_(?:event|reader)/],
  ['HTTP and WebSocket', /^gateway_(?:http|websocket|connection)/],
  ['Redis', /^gateway_redis_/],
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

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

const [COLUMNS, WIDTH, HEIGHT] = [3, 8, 8];

/** Grafana's panels have ids, and places on a grid of 24 columns. */
const layOut = (rows: readonly Row[]): readonly object[] => {
  let id = 0;
  let y = 0;
  return rows.flatMap(({ title, panels, isCollapsed }): object[] => {
    const row = { type: 'row', id: ++id, title, collapsed: isCollapsed, gridPos: { h: 1, w: 24, x: 0, y } };
    y += 1;
    const placed = panels.map((panel, index) => ({
      type: 'timeseries',
      id: ++id,
      title: panel.title,
      description: panel.description,
      datasource: DATASOURCE,
      gridPos: {
        h: HEIGHT,
        w: WIDTH,
        x: (index % COLUMNS) * WIDTH,
        y: y + Math.floor(index / COLUMNS) * HEIGHT,
      },
      fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
      options: {
        legend: { displayMode: 'list', placement: 'bottom' },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
      targets: panel.targets.map(({ expr, legend }, target) => ({
        refId: String.fromCharCode(65 + target),
        datasource: DATASOURCE,
        expr,
        legendFormat: legend,
      })),
    }));
    // A collapsed row has its panels within it.
    if (isCollapsed) return [{ ...row, panels: placed }];
    y += Math.ceil(panels.length / COLUMNS) * HEIGHT;
    return [{ ...row, panels: [] }, ...placed];
  });
};

/** A variable of the dashboard: all of a label's values, each of which can be chosen. */
const labelVariable = (name: string, query: string): object => ({
  name,
  type: 'query',
  datasource: DATASOURCE,
  query: { query, refId: name },
  refresh: 2,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
});

/** The dashboard for Grafana: what is looked at first, a panel for each of these metrics, and the process. */
export const renderDashboard = (families: readonly MetricFamily[]): string => {
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
        labelVariable('job', 'label_values(gateway_http_requests_in_flight, job)'),
        labelVariable('instance', 'label_values(gateway_http_requests_in_flight{job=~"$job"}, instance)'),
      ],
    },
    panels: layOut(rowsOf(families)),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
};
