import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { needPrometheus, promtool, startPrometheus } from '../support/deploy/prometheus-server.ts';
import { folderOf } from '../support/folder.ts';
import { type Family, scrape } from '../support/gateway/prometheus.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { root } from '../support/pages.ts';
import { ALERT_CASES, type Case } from './alert-cases.ts';

/** The rules and the dashboard of deploy/, judged by Prometheus' own programs and by a gateway's metrics. */

const RULES = 'deploy/prometheus/alerts.yaml';
const rules = await readFile(join(root, RULES), 'utf8');

/** The alerts of the file: each value is in quotes, or a word. */
const alerts = rules
  .split('- alert: ')
  .slice(1)
  .map((text) => {
    const [name = ''] = text.split('\n');
    const read = (key: string): string =>
      JSON.parse(new RegExp(`^ +${key}: (".*")$`, 'm').exec(text)?.[1] ?? '""');
    const severity = /^ +severity: (\w+)$/m.exec(text)?.[1] ?? '';
    const annotations = { summary: read('summary'), description: read('description') };
    const expression = /^ +expr: '(.*)'$/m.exec(text)?.[1] ?? '';
    return { name, text, expression, severity, annotations };
  });

type DashboardPanel = {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly panels?: readonly DashboardPanel[];
};

const dashboard: { readonly panels: readonly DashboardPanel[] } = JSON.parse(
  await readFile(join(root, 'deploy/grafana/dashboard.json'), 'utf8'),
);

/** As Grafana fills in what its variables choose. */
const filledIn = (expression: string): string =>
  expression.replaceAll(/\$(?:job|instance)/g, '.*').replaceAll('$__rate_interval', '1m');

const expressionsOf = (panels: readonly DashboardPanel[]): readonly string[] =>
  panels.flatMap(({ targets = [], panels: within = [] }) => [
    ...targets.map(({ expr }) => filledIn(expr)),
    ...expressionsOf(within),
  ]);

const shown = expressionsOf(dashboard.panels);
const overview = expressionsOf(dashboard.panels.filter(({ panels }) => panels === undefined));

/** A gateway over its sandbox, after every kind of traffic that is quick to make. */
let used: Gateway;
let dashboardOfUsed: ReturnType<typeof subscribe>;
beforeAll(async () => {
  used = await startGateway({ SANDBOX_BLOCK_MS: '500' });
  const wallet =
    '{ wallet(address: "0xc7928e7865fb684cc7629937d4064aa69989eab4") { transactions(first: 1) { nodes { hash } } collectibles(first: 1) { nodes { tokenId } } } }';
  for (let times = 0; times < 3; times += 1) await used.query(wallet);
  await used.query('{ nothing }');
  await used.query(
    'mutation { deleteWebhook(input: { webhookId: "0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee" }) { __typename } }',
  );
  await fetch(`${used.url}/deliveries/default/guessed`, { method: 'POST', body: '{}' });
  await fetch(`${used.url}/health/ready`);
  dashboardOfUsed = subscribe(used.url);
  await eventually(() => dashboardOfUsed.edges.length > 2);
});
afterAll(async () => {
  await dashboardOfUsed[Symbol.asyncDispose]();
  await used[Symbol.asyncDispose]();
});

test('promtool accepts the rules and the configuration', async (context) => {
  await needPrometheus(context);
  for (const args of [
    ['check', 'rules', RULES],
    ['check', 'config', 'deploy/prometheus/prometheus.yaml'],
  ]) {
    const { code, output } = await promtool(args);
    expect([code, output]).toEqual([0, expect.stringContaining(`${alerts.length} rules found`)]);
  }
});

test('each alert has numbers at which it fires, and others at which it does not', () => {
  expect(alerts.length).toBeGreaterThan(15);
  expect(Object.keys(ALERT_CASES)).toEqual(alerts.map(({ name }) => name));
  for (const { fires, quiet } of Object.values(ALERT_CASES))
    expect(Math.min(fires.length, quiet.length)).toBeGreaterThan(0);
});

test('each alert fires at the numbers at which it should, and at no others', async (context) => {
  await needPrometheus(context);
  // Each is judged alone: promtool evaluates all rules of its file at each minute of each case.
  const files = alerts.map(({ name, text, severity, annotations }) => {
    const { labels, fires, quiet } = ALERT_CASES[name] ?? { labels: {}, fires: [], quiet: [] };
    const firing = [{ exp_labels: { ...labels, severity }, exp_annotations: annotations }];
    const testOf = (expected: readonly object[]) => (one: Case) => ({
      name: `${name} ${expected.length === 0 ? 'does not fire' : 'fires'}`,
      interval: '1m',
      input_series: Object.entries(one.series).map(([key, values]) => ({ series: key, values })),
      alert_rule_test: [{ eval_time: `${one.at}m`, alertname: name, exp_alerts: expected }],
    });
    const tests = [...fires.map(testOf(firing)), ...quiet.map(testOf([]))];
    // YAML holds JSON.
    const cases = { rule_files: [`${name}.rule.yaml`], evaluation_interval: '1m', tests };
    return {
      [`${name}.rule.yaml`]: `groups:\n  - name: alone\n    rules:\n      - alert: ${text}`,
      [`${name}.yaml`]: JSON.stringify(cases),
    };
  });
  await using folder = await folderOf(Object.assign({}, ...files));
  const cases = alerts.map(({ name }) => folder.path(`${name}.yaml`));
  const { code, output } = await promtool(['test', 'rules', ...cases]);
  expect([code, output.match(/SUCCESS/g)]).toEqual([0, alerts.map(() => 'SUCCESS')]);
});

test("promtool has nothing to say about the gateway's own metrics", async (context) => {
  await needPrometheus(context);
  const text = await (await fetch(`${used.url}/metrics`)).text();
  const { code, output } = await promtool(['check', 'metrics'], text);
  // 3: it can be read, and has what the linter would name in another way. Those names are prom-client's.
  expect([0, 3]).toContain(code);
  expect(output).not.toContain('gateway_');
  const broken = await promtool(['check', 'metrics'], 'gateway_operations_total{ 1\n');
  expect(broken.code).toBe(1);
});

/** The metric of each selector, and the labels that the selector names. */
const selectorsIn = (expression: string): readonly (readonly [metric: string, labels: readonly string[]])[] =>
  [...expression.matchAll(/\b((?:gateway|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', matchers = '']) => [
      metric,
      [...matchers.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)].map(([, label = '']) => label),
    ],
  );

const groupedIn = (expression: string): readonly string[] =>
  [...expression.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));

/** Prometheus adds these to what it scrapes. */
const OF_THE_TARGET = ['job', 'instance'];

const labelsOf = (family: Family): readonly string[] =>
  [...family.series.keys()].flatMap((key) => [...key.matchAll(/(\w+)="/g)].map(([, label = '']) => label));

test('every metric and label of an expression is one that the gateway has', async () => {
  const { families } = await scrape(used.url);
  const familyOf = (metric: string): Family | undefined =>
    families.get(metric) ?? families.get(metric.replace(/_(?:bucket|count|sum)$/, ''));
  const expressions = [...shown, ...alerts.map(({ expression }) => expression)];
  expect(expressions.length).toBeGreaterThan(60);
  for (const expression of expressions) {
    const selectors = selectorsIn(expression);
    const known = new Set(OF_THE_TARGET);
    let isComplete = true;
    for (const [metric] of selectors) {
      const family = familyOf(metric);
      expect(family, metric).toBeDefined();
      if (!family) continue;
      for (const label of labelsOf(family)) known.add(label);
      // A counter with labels has no series before it counts. Those that this traffic does not count, Prometheus only parses.
      isComplete &&= family.series.size > 0;
    }
    if (!isComplete) continue;
    const named = [...selectors.flatMap(([, labels]) => labels), ...groupedIn(expression)];
    expect([expression, named.filter((label) => !known.has(label))]).toEqual([expression, []]);
  }
});

test('the dashboard shows every metric of the gateway', async () => {
  await using gateway = await startGateway();
  const { families } = await scrape(gateway.url);
  const own = [...families.keys()].filter((name) => name.startsWith('gateway_'));
  const metrics = new Set(
    shown
      .flatMap(selectorsIn)
      .map(([metric]) => (families.has(metric) ? metric : metric.replace(/_bucket$/, ''))),
  );
  expect(own.length).toBeGreaterThan(30);
  expect(own.filter((name) => !metrics.has(name))).toEqual([]);
});

test('a Prometheus that scrapes a gateway accepts every expression, and has a result where there was traffic', async (context) => {
  await needPrometheus(context);
  const prometheus = await startPrometheus(used.url);
  await prometheus.scraped(4);
  const { families } = await scrape(used.url);
  for (const expression of shown) {
    const result = await prometheus.query(expression);
    const hasTraffic = selectorsIn(expression).every(
      ([metric]) => (families.get(metric.replace(/_bucket$/, ''))?.series.size ?? 0) > 0,
    );
    if (hasTraffic) expect([expression, result.length > 0]).toEqual([expression, true]);
  }
  for (const expression of overview)
    expect([expression, (await prometheus.query(expression)).length > 0]).toEqual([expression, true]);
  await expect(prometheus.query('sum(')).rejects.toThrow('parse error');
  const evaluated = await prometheus.evaluatedRules();
  expect(evaluated.map(({ name }) => name)).toEqual(alerts.map(({ name }) => name));
  expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
});
