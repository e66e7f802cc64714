import { expect, test } from 'vitest';
import { checkTenant } from '../../scripts/soak/log-check.ts';
import { excessesOf, mistakesOf, type Report } from '../../scripts/soak/report.ts';
import { soak } from '../../scripts/soak/soak.ts';
import { Waits } from '../../scripts/soak/waits.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';

/** `npm run soak`, but short, and with attacks that use little of the machine. Its waiting times are not asserted here. */

test('under attacks, honest clients of a soak lose nothing and get nothing twice', async () => {
  const only = ['forged cursors', 'floods of bad messages', 'tenants, each with one delivery'];
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
});

const UNTROUBLED: Report = {
  seconds: 1,
  died: null,
  mostMemoryMb: 300,
  lastMemoryMb: 300,
  ownDelayMs: 1,
  waits: { pages: { done: 100, medianMs: 1, p99Ms: 2, longestMs: 3, refused: {} } },
  walks: { whole: 1, wrong: [] },
  deliveries: [],
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
    { name: 'alice', token, start: head, poster: { acknowledged }, readers },
    waits,
    0,
  );
  expect(checked).toMatchObject({ acknowledged: 4, lost: 1, twice: 1 });
  expect(checked.wrong).toEqual([
    'reader 1 of alice received 4 of 4 events, and differs from the log at 1',
    'reader 2 of alice received 3 of 4 events, and differs from the log at 3',
    'reader 3 of alice received 5 of 4 events, and differs from the log at 4',
  ]);
  expect(waits.summary().events).toMatchObject({ longestMs: 20 });
  expect(mistakesOf({ ...UNTROUBLED, deliveries: [checked] })).toHaveLength(5);
});

test('a soak reports requests that were slow or refused, memory above the limit, and processes that ended', () => {
  expect([...mistakesOf(UNTROUBLED), ...excessesOf(UNTROUBLED)]).toEqual([]);
  const waits = { pages: { done: 100, medianMs: 1, p99Ms: 2, longestMs: 2001, refused: { 503: 2 } } };
  const stopped = { exitCode: 1, ms: 50 };
  expect(excessesOf({ ...UNTROUBLED, mostMemoryMb: 1024, waits, stopped })).toEqual([
    'pages: one waited for 2001 ms',
    'pages: 2 of 100 were refused',
    'memory came to 1024 MB',
    'at SIGTERM it ended with 1 after 50 ms',
  ]);
  const walks = { whole: 0, wrong: ['transactions of 0x: 5 behind 7'] };
  expect(mistakesOf({ ...UNTROUBLED, died: 'SIGABRT', walks })).toEqual([
    'the gateway ended by itself: SIGABRT',
    'a walk went wrong: transactions of 0x: 5 behind 7',
    'no walk came to its end',
  ]);
});
