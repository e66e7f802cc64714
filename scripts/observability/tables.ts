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

/** One row for each rule of a file of Prometheus. Each text of a rule is a line, as JSON writes it. */
export const alertsTable = (rules: string): string =>
  tableOf(
    ['alert', 'severity', 'when', 'for', 'because'],
    rules
      .split('- alert: ')
      .slice(1)
      .map((rule) => {
        const [name = ''] = rule.split('\n');
        const [, pending = '', severity = ''] = /for: (\w+)\s+labels:\s+severity: (\w+)/.exec(rule) ?? [];
        const [because = '', when = ''] = ['summary', 'description'].map((key): string =>
          JSON.parse(new RegExp(`${key}: (".*")$`, 'm').exec(rule)?.[1] ?? '""'),
        );
        return [name, severity, code(when), pending === '0m' ? 'at once' : pending, code(because)];
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
