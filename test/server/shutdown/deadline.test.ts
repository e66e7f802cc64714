import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createShutdownDeadline, shutdownMs } from '../../../src/lib/deadlines.ts';
import { need } from '../../support/available.ts';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { PROGRAM, spawnGateway } from '../../support/gateway/spawn.ts';

/** All parts of a graceful shutdown share one deadline. */

test('the parts fit into the deadline, however long each of them takes', () => {
  let now = 1000;
  const deadline = createShutdownDeadline(undefined, () => now);
  deadline.start();
  const spent = [deadline.noticeMs, deadline.drainMs, deadline.closeMs].map((part) => {
    const ms = part();
    now += ms;
    return ms;
  });
  expect(spent).toEqual([2000, 5000, 1000]);
  expect(deadline.remainingMs()).toBe(1000);
});

test('a part that overruns takes its time from those that follow, and a second start changes nothing', () => {
  let now = 0;
  const deadline = createShutdownDeadline(undefined, () => now);
  deadline.start();
  now = 4000;
  deadline.start();
  expect([deadline.noticeMs(), deadline.drainMs(), deadline.remainingMs()]).toEqual([0, 3000, 5000]);
  now = 7500;
  expect([deadline.drainMs(), deadline.closeMs()]).toEqual([0, 500]);
  now = 60_000;
  expect([deadline.closeMs(), deadline.remainingMs()]).toEqual([0, 0]);
});

test('the settings change the notice and the drain, and so when all ends', () => {
  let now = 0;
  const times = { noticeMs: 15_000, drainMs: 30_000 };
  const deadline = createShutdownDeadline(times, () => now);
  deadline.start();
  expect(shutdownMs(times)).toBe(47_000);
  expect(deadline.noticeMs()).toBe(15_000);
  now = 15_000;
  expect([deadline.drainMs(), deadline.remainingMs()]).toEqual([30_000, 32_000]);
});

test('a disk that takes longer than the deadline to close the log is no failure: exit code 0, and nothing is lost', async (context) => {
  const canDelay =
    spawnSync('strace', ['-f', '-D', '-e', 'inject=unlink:delay_enter=1', 'true']).status === 0;
  need(context, canDelay, 'strace');
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-slow-disk-'));
  try {
    const env = { DATA_DIR: dataDir, DELIVERY_SECRET: 'a-secret-of-this-test' };
    // SQLite removes this file when it closes the log, and at no other time.
    const file = join(dataDir, 'deliveries.db-shm');
    const delayed = ['-e', 'trace=unlink', '-e', 'inject=unlink:delay_enter=11s', '-P', file];
    await using gateway = await spawnGateway(env, PROGRAM, [
      'strace',
      '-D',
      '-f',
      '-q',
      '-o',
      '/dev/null',
      ...delayed,
    ]);
    const { deliveryUrl } = await deliveriesOf(gateway.url);
    expect(await deliver(deliveryUrl, { body: { kept: true } })).toBe(200);
    expect(await gateway.end('SIGINT')).toBe(0);
    const messages = gateway.lines.map((line) => JSON.parse(line)).map(({ level, msg }) => [level, msg]);
    expect(messages).toContainEqual(['warn', 'delivery log not closed before the shutdown deadline']);
    expect(messages.filter(([level]) => level === 'error')).toEqual([]);

    await using next = await spawnGateway(env);
    const response = await fetch(`${next.url}/graphql?query={deliveries{nodes{payload}}}`);
    expect(await response.text()).toContain('"kept"');
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
