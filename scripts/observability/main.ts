import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { parseCommandLine } from '../command-line.ts';
import { ALERTS } from './alerts.ts';
import { readMetricFamilies } from './metrics.ts';
import { renderRules, renderTable } from './render-alerts.ts';
import { renderDashboard } from './render-dashboard.ts';

/**
 * Writes Grafana's dashboard from the gateway's metrics, and from the alerts Prometheus' rules and the table of
 * docs/metrics.md; with --check, fails when a file is not what they say.
 */

const { values } = parseCommandLine('Usage: npm run observability -- [--check]', {
  options: { check: { type: 'boolean' } },
});

const urlOf = (path: string): URL => new URL(`../../${path}`, import.meta.url);

const PAGE = 'docs/metrics.md';
const TABLE = /^\| alert \|.*\n(?:\|.*\n)*/m;

const page = await readFile(urlOf(PAGE), 'utf8');
if (!TABLE.test(page)) throw new Error(`Expected a table of alerts in ${PAGE}, got none.`);

const files: Readonly<Record<string, string>> = {
  'deploy/grafana/dashboard.json': renderDashboard(readMetricFamilies()),
  'deploy/prometheus/alerts.yaml': renderRules(ALERTS),
  [PAGE]: page.replace(TABLE, () => `${renderTable(ALERTS)}\n`),
};

for (const [path, text] of Object.entries(files)) {
  if (!values.check) await writeFile(urlOf(path), text);
  else if ((await readFile(urlOf(path), 'utf8').catch(() => '')) !== text) {
    process.stderr.write(`${path} is not what the code says. Mend it with: npm run observability\n`);
    process.exitCode = 1;
  }
}
