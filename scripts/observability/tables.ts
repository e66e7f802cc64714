import type { MetricFamily } from './panels.ts';

/** The tables of docs/metrics.md: the metrics as the code declares them, the alerts as the rules state them. */

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const tableOf = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map(rowOf).join('\n');

export const metricsTable = (families: readonly MetricFamily[]): string =>
  tableOf(
    ['metric', 'type', 'meaning'],
    families.map(({ name, type, help }) => [name, type, help]),
  );

const code = (text: string): string => text.replaceAll(/\b[a-z]+(?:_[a-z0-9]+)+\b/g, '`$&`');

/** One row for each rule of a file of Prometheus. The condition is in the rule's description, which its alert shows. */
export const alertsTable = (rules: string): string =>
  tableOf(
    ['alert', 'severity', 'meaning'],
    rules
      .split('- alert: ')
      .slice(1)
      .map((rule) => {
        const [name = ''] = rule.split('\n');
        const [, severity = ''] = /severity: (\w+)/.exec(rule) ?? [];
        const [, summary = '""'] = /summary: (".*")$/m.exec(rule) ?? [];
        return [name, severity, code(JSON.parse(summary))];
      }),
  );

/** Replaces what is between `<!-- name -->` and `<!-- /name -->`. */
export const fillIn = (page: string, name: string, content: string): string => {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`Expected ${begin.trim()} before ${end.trim()}, got no such markers.`);
  return page.slice(0, from + begin.length) + content + page.slice(to);
};
