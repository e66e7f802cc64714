import { expect, test } from 'vitest';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { readPage, rowsOf } from '../support/pages.ts';

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
