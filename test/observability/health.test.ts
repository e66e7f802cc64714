import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { createHealthEndpoints } from '../../src/server/http/health.ts';
import { deliver } from '../support/clients/deliver.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';

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

test('failing appends are logged once, and the gateway stays ready', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  // Another program holds the write lock.
  const intruder = new DatabaseSync(join(gateway.dataDir, 'deliveries.db'));
  intruder.exec('BEGIN IMMEDIATE');
  for (let turn = 0; turn < 3; turn += 1) expect(await deliver(deliveryUrl, { body: { turn } })).toBe(503);
  const ready = await fetch(`${gateway.url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
  intruder.exec('ROLLBACK');
  intruder.close();
  await expect.poll(() => deliver(deliveryUrl, { body: {} })).toBe(200);

  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_log_errors_total', { task: 'append' })).toBeGreaterThanOrEqual(3);
  expect(sum('gateway_deliveries_total', { outcome: '503' })).toBeGreaterThanOrEqual(3);
  const logged = gateway.logLines.filter((line) => line.includes('delivery log: '));
  expect(logged.filter((line) => line.includes('"append"'))).toHaveLength(1);
  expect(logged.at(-1)).toContain('appends recovered');
});

test('a gateway that can not read its log is not ready, until it can', async () => {
  let readLog: () => Promise<unknown> = () => Promise.reject(new Error('broken'));
  const { byPath } = createHealthEndpoints({
    readLog: () => readLog(),
    isUpstreamDown: () => false,
    metrics: () => Promise.reject(new Error('not asked for')),
  });
  const ready = byPath.get('/health/ready');
  expect(await ready?.()).toMatchObject({ status: 503, body: expect.stringContaining('["deliveries"]') });
  readLog = () => new Promise(() => {});
  expect(await ready?.()).toMatchObject({ status: 503, body: expect.stringContaining('["deliveries"]') });
  readLog = async () => {};
  expect(await ready?.()).toMatchObject({ status: 200 });
});

test('a gateway that stops says so without a look at its log', async () => {
  const readLog = vi.fn(async () => {});
  const health = createHealthEndpoints({
    readLog,
    isUpstreamDown: () => false,
    metrics: () => Promise.reject(new Error('not asked for')),
  });
  health.markNotReady();
  expect(await health.byPath.get('/health/ready')?.()).toMatchObject({
    status: 503,
    body: expect.stringContaining('["stopping"]'),
  });
  expect(readLog).not.toHaveBeenCalled();
});
