import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { readPage, root, rowsOf } from '../support/pages.ts';

/**
 * The tables are written by `npm run observability`, and compared by `npm run check`. That each metric of a rule is measured,
 * test/telemetry/prometheus.test.ts holds.
 */

test('every rule has a row in docs/metrics.md, and the limit of sockets is that of the default', async () => {
  const rules = await readFile(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8');
  const names = [...rules.matchAll(/- alert: (\w+)$/gm)].map(([, name]) => name);
  const rows = rowsOf(await readPage('docs/metrics.md'), 'alert');
  expect(rows.map(([name]) => name)).toEqual(names);
  for (const cells of rows) expect(cells).toEqual(Array.from(cells, () => expect.stringMatching(/\w/)));
  const { maxSockets } = readConfig({});
  expect(rules).toContain(`expr: 'gateway_websockets > ${maxSockets * 0.9}'`);
});
