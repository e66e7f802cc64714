import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { deliver } from './support/deliver.ts';
import { scrape } from './support/exposition.ts';
import { nowhere, startGateway } from './support/gateway.ts';

const paths = ['/health/live', '/health/ready', '/metrics'];

test.each(paths)('%s answers GET and HEAD, and nothing else', async (path) => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const ask = (method: string) => fetch(`${gateway.url}${path}`, { method });
  const [got, head] = [await ask('GET'), await ask('HEAD')];
  expect([got.status, head.status]).toEqual([200, 200]);
  expect((await got.text()).length).toBeGreaterThan(0);
  expect(await head.text()).toBe('');
  expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'));
  expect(got.headers.get('cache-control')).toBe('no-store');
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const refused = await ask(method);
    expect([method, refused.status, refused.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
  }
});

test('a gateway whose log can not be read is alive but not ready, says so once, and is ready again after', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  const ready = async () => {
    const response = await fetch(`${gateway.url}/health/ready`);
    return [response.status, await response.json()];
  };
  expect(await ready()).toEqual([200, { status: 'ready' }]);

  // Another program's write lock costs the log its connection; then a new one finds what is no log.
  const path = join(gateway.dataDir, 'deliveries.db');
  const intruder = new DatabaseSync(path);
  intruder.exec('BEGIN IMMEDIATE');
  for (let turn = 0; turn < 3; turn += 1) expect(await deliver(deliveryUrl, { body: { turn } })).toBe(503);
  intruder.exec('ROLLBACK');
  intruder.close();
  await rename(path, `${path}.away`);
  await writeFile(
    path,
    'this is no database, and long enough to be taken for the header of none '.repeat(20),
  );
  expect(await ready()).toEqual([503, { status: 'not ready', parts: ['deliveries'] }]);
  expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);

  await rename(`${path}.away`, path);
  expect(await ready()).toEqual([200, { status: 'ready' }]);
  expect(await deliver(deliveryUrl, { body: {} })).toBe(200);

  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_log_errors_total', { task: 'append' })).toBe(3);
  expect(sum('gateway_deliveries_total', { outcome: '503' })).toBe(3);
  const told = gateway.logLines.filter((line) => line.includes('the delivery log'));
  expect(told.filter((line) => line.includes('"append"'))).toHaveLength(1);
  expect(told.at(-1)).toContain('takes deliveries again');
});
