import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { excessesOf, mistakesOf, type Report, unjudgedOf } from '../../scripts/soak/report.ts';
import { readTurns, soak } from '../../scripts/soak/soak.ts';
import { checkTenant } from '../../scripts/soak/tenants.ts';
import { Waits } from '../../scripts/soak/waits.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { folderOf } from '../support/folder.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';

/** `npm run soak`, but short, and with attacks that use little of the machine. Its waiting times are not asserted here. */

test('under attacks, honest clients of a soak lose nothing and get nothing twice', async () => {
  const only = [
    'tenants, each with one delivery',
    'names of webhooks that are paths',
    'values with a property `then`',
    'announced deliveries that never come',
  ];
  const report = await soak({ seconds: 8, only });
  expect(mistakesOf(report)).toEqual([]);
  expect(Object.keys(report.attacks).toSorted()).toEqual(only.toSorted());
  for (const [name, outcomes] of Object.entries(report.attacks))
    expect(Object.keys(outcomes), name).not.toEqual([]);
  for (const { acknowledged } of report.deliveries) expect(acknowledged).toBeGreaterThan(0);
  expect(Object.keys(report.waits).toSorted()).toEqual([
    '/health/live',
    '/health/ready',
    'events',
    'pages',
    'posts',
  ]);
  expect(report.stopped?.exitCode).toBe(0);
  expect(report.computeUnits?.sent).toBeGreaterThan(0);
  expect(Object.keys(report.turns)).toEqual(['gateway', 'honest clients', 'service']);
});

const UNTROUBLED: Report = {
  seconds: 1,
  died: null,
  mostMemoryMb: 300,
  lastMemoryMb: 300,
  waits: { pages: { count: 100, p50Ms: 1, p99Ms: 2, maxMs: 3, tooLong: [], refused: {} } },
  walks: { whole: 1 },
  deliveries: [],
  computeUnits: { sent: 10, counted: 10 },
  stray: [],
  turns: {},
  attacks: {},
};

test('a soak reports events that were lost, stored twice, or sent in another order than the log has', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken });
  const token = await tokenOf();
  const { deliveryUrl, head } = await deliveriesOf(gateway.url, bearer(token));
  for (const number of [1, 2, 3]) await deliver(deliveryUrl, { body: activity(number) });
  // The same event again, in another delivery.
  await deliver(deliveryUrl, { body: { ...activity(3), more: true } });
  const { deliveries } = await gateway.data<{ deliveries: { edges: { cursor: string }[] } }>(
    '{ deliveries { edges { cursor } } }',
    {},
    bearer(token),
  );
  const cursors = deliveries.edges.map(({ cursor }) => cursor);
  const readerOf = (received: readonly (string | undefined)[]) => ({
    cursors: received.map(String),
    times: received.map(() => 30),
  });
  const waits = new Waits();
  const acknowledged = new Map([1, 2, 3, 4].map((number) => [number, 10]));
  const [one, two, three, four] = cursors;
  const readers = [cursors, [one, three, two, four], [one, two, three], [...cursors, four]].map(readerOf);
  const checked = await checkTenant(
    gateway.url,
    { name: 'alice', token, start: head, acknowledged, readers },
    waits,
    0,
  );
  expect(checked).toMatchObject({ acknowledged: 4, lost: 1, twice: 1 });
  expect(checked.wrong).toEqual([
    'reader 1 of alice received 4 of 4 events, and differs from the log at 1',
    'reader 2 of alice received 3 of 4 events, and differs from the log at 3',
    'reader 3 of alice received 5 of 4 events, and differs from the log at 4',
  ]);
  expect(waits.summary().events).toMatchObject({ maxMs: 20 });
  expect(mistakesOf({ ...UNTROUBLED, deliveries: [checked] })).toHaveLength(5);
});

test('a soak reports requests that were refused, memory above the limit, and processes that ended', () => {
  expect([...mistakesOf(UNTROUBLED), ...excessesOf(UNTROUBLED)]).toEqual([]);
  const { pages } = UNTROUBLED.waits;
  if (pages === undefined) throw new Error('expected waits for pages');
  const waits = { pages: { ...pages, refused: { 503: 2 } } };
  const stopped = { exitCode: 1, ms: 50 };
  expect(excessesOf({ ...UNTROUBLED, mostMemoryMb: 1024, waits, stopped })).toEqual([
    'pages: 2 of 100 were refused',
    'memory came to 1024 MB',
    'at SIGTERM it ended with 1 after 50 ms',
  ]);
  const walks = { 'transactions of 0x: 5 behind 7': 1 };
  expect(mistakesOf({ ...UNTROUBLED, died: 'SIGABRT', walks })).toEqual([
    'the gateway ended by itself: SIGABRT',
    'a walk went wrong: transactions of 0x: 5 behind 7',
    'no walk came to its end',
  ]);
});

test('a soak reports requests that were not counted or not meant, and attacks that ended as they should not', () => {
  const attacks = { 'tenants, each with one delivery': { 200: 5, 503: 1 } };
  const stray = ['GET /v1/stray'];
  expect(mistakesOf({ ...UNTROUBLED, computeUnits: { sent: 10, counted: 9 }, stray, attacks })).toEqual([
    '9 compute units were counted for requests of 10',
    'the service was sent GET /v1/stray',
    'tenants, each with one delivery: expected that each is stored, got 503 × 1',
  ]);
});

test('a soak tells a wait for the gateway from one in which the machine gave it no core', () => {
  const waitOf = (endMs: number, ms: number) => ({ endMs, ms });
  const turnOf = (endMs: number, ranMs: number, noCoreMs: number) => ({
    endMs,
    tookMs: 1000,
    ranMs,
    noCoreMs,
  });
  const waits = {
    pages: {
      ...{ count: 3, p50Ms: 1, p99Ms: 2, maxMs: 3000, refused: {} },
      tooLong: [waitOf(3000, 2100), waitOf(9000, 2500), waitOf(9500, 3000)],
    },
  };
  const turns = { gateway: [turnOf(2000, 1000, 0), turnOf(9000, 100, 900), turnOf(10_000, 100, 800)] };
  const report: Report = { ...UNTROUBLED, waits, turns };
  expect(excessesOf(report)).toEqual([
    'pages: 1 waited for up to 2100 ms; the gateway ran for 1000 ms and had no core for 0 ms',
  ]);
  expect(unjudgedOf(report)).toEqual([
    'pages: 2 waited for up to 3000 ms; the gateway ran for 150 ms and had no core for 1300 ms',
  ]);
});

const BUSY_THEN_BLOCKED = `
import { setTimeout as pause } from 'node:timers/promises';
const busy = (until) => { while (process.threadCpuUsage().user < until); };
await pause(100);
busy(process.threadCpuUsage().user + 300_000);
await pause(100);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);
await pause(100);
`;

test('a process records its long turns, and for how long it ran in them', async () => {
  await using folder = await folderOf({ 'src/program.mjs': BUSY_THEN_BLOCKED });
  const file = folder.path('loop.json');
  const probe = new URL('../../scripts/soak/loop-probe.ts', import.meta.url).href;
  const { execPath, env } = process;
  const args = ['--import', probe, folder.path('src/program.mjs')];
  await promisify(execFile)(execPath, args, { env: { ...env, LOOP_PROBE: file } });
  const turns = await readTurns(file, 0);
  expect(Math.max(...turns.map(({ ranMs }) => ranMs))).toBeGreaterThan(100);
  const blocked = turns.at(-1);
  expect(blocked?.tookMs).toBeGreaterThan(850);
  expect(blocked?.ranMs).toBeLessThan(800);
});
