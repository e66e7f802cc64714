import type { Alert } from './alerts.ts';

/** A JSON string is a quoted string of YAML too. */
const quoted = (text: string): string => JSON.stringify(text);

/** Markdown without links and backticks, as a pager shows it. */
const plain = (markdown: string): string =>
  markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');

/** With a capital, unless a metric's name is first. */
const sentence = (words: string): string =>
  /^\w+_/.test(words) ? `${words}.` : `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

const ruleOf = ({ name, expression, for: pending, severity, when, because }: Alert): string => `
      - alert: ${name}
        expr: ${quoted(expression)}
        for: ${pending}
        labels:
          severity: ${severity}
        annotations:
          summary: ${quoted(sentence(plain(because)))}
          description: ${quoted(sentence(plain(when)))}
`;

/** The file of rules for Prometheus. */
export const renderRules = (alerts: readonly Alert[]): string => `\
# Alert rules for Prometheus, which docs/metrics.md explains. Written by \`npm run observability\` from scripts/observability/alerts.ts.
groups:
  - name: evm-graphql-gateway
    rules:${alerts.map(ruleOf).join('')}`;

const cell = (text: string): string => text.replaceAll('|', '\\|');

const rowOf = ({ name, for: pending, severity, when, because }: Alert): string => {
  const minutes = Number.parseInt(pending, 10);
  const after = minutes === 0 ? 'at once' : minutes === 1 ? 'after a minute' : `after ${minutes} minutes`;
  return `| ${[name, severity, `${cell(when)}; ${after}`, cell(because)].join(' | ')} |`;
};

/** The table of docs/metrics.md. */
export const renderTable = (alerts: readonly Alert[]): string =>
  ['| alert | severity | when | because |', '|---|---|---|---|', ...alerts.map(rowOf)].join('\n');
