import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { readPage, root, rowsOf } from '../support/pages.ts';

const page = await readPage('docs/metrics.md');

test('docs/metrics.md has every metric of the gateway, with its type and what it means, and no other', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { families } = await scrape(gateway.url);
  const own = [...families.values()].filter(({ name }) => name.startsWith('gateway_'));
  const rows = own.map(({ name, type, help }) => `| ${name} | ${type} | ${help} |`);
  expect(page.text.match(/^\| gateway_.*$/gm)).toEqual(rows);
});

test('what docs/metrics.md alerts on is measured', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { families } = await scrape(gateway.url);
  const alerts = rowsOf(page, 'alert').map(([, , when = '']) => when);
  const named = alerts.flatMap((when) =>
    [...when.matchAll(/(?:gateway|nodejs|process)_\w+/g)].map(([name]) => name),
  );
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !families.has(name.replace(/_(?:bucket|count)$/, '')))).toEqual([]);
});

/** Markdown without links and backticks, as an alert says it: a sentence, with a capital unless a metric's name is first. */
const sentenceOf = (markdown: string): string => {
  const text = markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');
  return `${/^\w+_/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)}.`;
};

const AFTER: Readonly<Record<string, string>> = { 'at once': '0m', 'after a minute': '1m' };

test('docs/metrics.md has every alert of the rules, as they state it', async () => {
  const rules = await readFile(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8');
  const stated = rules
    .split('- alert: ')
    .slice(1)
    .map((rule) => {
      const [, pending, severity] = /for: (\w+)\s+labels:\s+severity: (\w+)/.exec(rule) ?? [];
      const [summary, description] = [...rule.matchAll(/(?:summary|description): (".*")$/gm)].map(
        ([, text = '']) => JSON.parse(text),
      );
      return { name: rule.split('\n')[0], severity, pending, description, summary };
    });
  const told = rowsOf(page, 'alert').map(([name, severity, when = '', because = '']) => {
    const [, condition = '', after = ''] = /^(.*); (at once|after .*)$/.exec(when) ?? [];
    const pending = AFTER[after] ?? after.replace(/after (\d+) minutes/, '$1m');
    return { name, severity, pending, description: sentenceOf(condition), summary: sentenceOf(because) };
  });
  expect(told).toEqual(stated);
  const { maxSockets } = readConfig({});
  expect(rules).toContain(`expr: 'gateway_websockets > ${maxSockets * 0.9}'`);
});
