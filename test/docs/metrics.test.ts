import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { readPage, root, rowsOf } from '../support/pages.ts';

/** The tables are written by `npm run observability`, and compared by `npm run check`. */

const page = await readPage('docs/metrics.md');

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

test('every rule has a row, and the limit of sockets is that of the default', async () => {
  const rules = await readFile(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8');
  const names = [...rules.matchAll(/- alert: (\w+)$/gm)].map(([, name]) => name);
  const rows = rowsOf(page, 'alert');
  expect(rows.map(([name]) => name)).toEqual(names);
  for (const cells of rows) expect(cells).toEqual(Array.from(cells, () => expect.stringMatching(/\w/)));
  const { maxSockets } = readConfig({});
  expect(rules).toContain(`expr: 'gateway_websockets > ${maxSockets * 0.9}'`);
});
