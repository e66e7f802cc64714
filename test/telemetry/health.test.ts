import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { createHealthEndpoints } from '../../src/server/http/health.ts';
import { temporaryDirectory } from '../deliveries/support/builders.ts';
import { deliver } from '../support/clients/deliver.ts';
import { createTestClock } from '../support/gateway/clock.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';

const notReady = (part: string, message: unknown) => [
  503,
  { status: 'not ready', reasons: [{ part, message }] },
];

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

test('while nothing can be stored, the gateway is not ready, and says so once in its log', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: await temporaryDirectory() });
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  // Another program holds the write lock.
  const intruder = new DatabaseSync(join(gateway.dataDir, 'deliveries.db'), { timeout: 60_000 });
  intruder.exec('BEGIN IMMEDIATE');
  for (let turn = 0; turn < 3; turn += 1) expect(await deliver(deliveryUrl, { body: { turn } })).toBe(503);
  const ready = async () => {
    const response = await fetch(`${gateway.url}/health/ready`);
    return [response.status, await response.json()];
  };
  expect(await ready()).toEqual(notReady('deliveries', expect.stringContaining('database is locked')));
  intruder.exec('ROLLBACK');
  await expect.poll(() => deliver(deliveryUrl, { body: {} })).toBe(200);
  await expect.poll(ready).toEqual([200, { status: 'ready' }]);
  // Nothing of the checks is left.
  expect(intruder.prepare('SELECT min(id) > 0 AS own, count(*) AS count FROM delivery').get()).toEqual({
    own: 1,
    count: 1,
  });
  expect(await readdir(gateway.dataDir)).not.toContain('deliveries.db-check');
  intruder.close();

  const { sum } = await scrape(gateway.url);
  expect(sum('gateway_log_errors_total', { task: 'append' })).toBeGreaterThanOrEqual(3);
  expect(sum('gateway_log_errors_total', { task: 'check' })).toBeGreaterThan(0);
  expect(sum('gateway_deliveries_total', { outcome: '503' })).toBeGreaterThanOrEqual(3);
  const logged = gateway.logLines.filter((line) => line.includes('delivery log: '));
  expect(logged.filter((line) => line.includes('"append"'))).toHaveLength(1);
  for (const recovered of ['appends recovered', 'checks recovered'])
    expect(logged.filter((line) => line.includes(recovered))).toHaveLength(1);
});

test('a disk that takes no more makes the gateway not ready', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: await temporaryDirectory() });
  // A folder in its place refuses the write, as a full disk does.
  const place = join(gateway.dataDir, 'deliveries.db-check');
  await mkdir(place);
  const ready = async () => (await fetch(`${gateway.url}/health/ready`)).json();
  expect(await ready()).toMatchObject({ status: 'not ready', reasons: [{ part: 'deliveries' }] });
  await rmdir(place);
  await expect.poll(ready).toEqual({ status: 'ready' });
});

const endpointsOf = (run: () => Promise<unknown>) => {
  const clock = createTestClock();
  const health = createHealthEndpoints({
    checks: [{ part: 'deliveries', run }],
    degradations: () => [],
    metrics: () => Promise.reject(new Error('not asked for')),
    now: clock.now,
  });
  const ready = async () => {
    const response = await health.byPath.get('/health/ready')?.();
    return [response?.status, JSON.parse(response?.body ?? '')];
  };
  return { ...health, ready, clock };
};

test('readiness names what fails, and tries it again after two seconds, however often it is asked', async () => {
  let failure: Error | null = new Error('broken');
  const run = vi.fn(async () => {
    if (failure !== null) throw failure;
  });
  const { ready, clock } = endpointsOf(run);
  for (let turn = 0; turn < 20; turn += 1) expect(await ready()).toEqual(notReady('deliveries', 'broken'));
  expect(run).toHaveBeenCalledTimes(1);
  failure = null;
  clock.advance(2000);
  expect(await Promise.all(Array.from({ length: 20 }, ready))).toEqual(
    Array(20).fill([200, { status: 'ready' }]),
  );
  expect(run).toHaveBeenCalledTimes(2);
});

test('a check that hangs makes the gateway not ready, and is not started a second time', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const run = vi.fn(() => promise);
  const { ready, clock } = endpointsOf(run);
  const late = notReady('deliveries', 'the check has not ended within 2000 ms');
  expect(await Promise.all([ready(), ready()])).toEqual([late, late]);
  clock.advance(2000);
  expect(await ready()).toEqual(late);
  expect(run).toHaveBeenCalledTimes(1);
  resolve();
  await expect.poll(ready).toEqual([200, { status: 'ready' }]);
});

test('a gateway that stops says so without a check', async () => {
  const run = vi.fn(async () => {});
  const { ready, markNotReady } = endpointsOf(run);
  markNotReady();
  expect(await ready()).toEqual(notReady('stopping', 'the gateway is shutting down'));
  expect(run).not.toHaveBeenCalled();
});
