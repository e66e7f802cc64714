import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../../../src/backend/indexer/database/database.ts';
import { folderOf } from '../../../support/folder.ts';
import { runs } from '../../../support/runs.ts';
import { type Received, startReceiver } from '../../dispatch/support/receiver.ts';
import { numberIn, openWebhooks } from '../support/stored-webhooks.ts';

const blocksOf = (received: readonly Received[]): readonly number[] =>
  received.map(({ body }) => numberIn(body));
const retryOf = ({ headers }: Received): string => String(headers['x-service-webhook-retry-index']);

test('what was tried before a restart is tried again after it, byte for byte, and no more once it is accepted', async () => {
  await using folder = await folderOf({});
  await using receiver = await startReceiver((index) => (index === 0 ? 500 : 200));
  const before = openWebhooks(folder.path('.'), { retries: { firstMs: 1_000, factor: 1 } });
  const id = before.subscribe(receiver.url);
  before.add(1);
  await receiver.until(1);
  await expect.poll(() => before.store.deliveries.next(id, Date.now() + 60_000)?.retry).toBe(1);
  await before[Symbol.asyncDispose]();

  {
    await using after = openWebhooks(folder.path('.'));
    await after.webhooks.settled();
  }
  expect(receiver.received.map(retryOf)).toEqual(['0', '1']);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);

  await using later = openWebhooks(folder.path('.'));
  expect(later.store.find(id)?.url).toBe(receiver.url);
  await later.webhooks.settled();
  expect(receiver.received).toHaveLength(2);
});

test('what is in flight at a stop is sent after the next start', async () => {
  await using folder = await folderOf({});
  await using receiver = await startReceiver((index) => (index === 0 ? 'never' : 200));
  const before = openWebhooks(folder.path('.'));
  before.subscribe(receiver.url);
  before.add(1);
  await receiver.until(1);
  await before[Symbol.asyncDispose]();
  await using after = openWebhooks(folder.path('.'));
  await after.webhooks.settled();
  expect(receiver.received.map(retryOf)).toEqual(['0', '0']);
});

test('what waited for its url at a stop is sent at once after the next start', async () => {
  await using folder = await folderOf({});
  let isDown = true;
  await using receiver = await startReceiver(() => (isDown ? 'hang up' : 200));
  {
    await using before = openWebhooks(folder.path('.'), { probes: { firstMs: 60_000, maxMs: 60_000 } });
    const id = before.subscribe(receiver.url);
    before.add(1);
    await expect.poll(() => before.store.deliveries.heldUntil(id)).not.toBeNull();
  }
  isDown = false;
  await using after = openWebhooks(folder.path('.'));
  await after.webhooks.settled();
  expect(receiver.received.map(retryOf)).toEqual(['0', '1']);
});

test('what a file of an earlier version has pending is sent at once, as it was', async () => {
  await using folder = await folderOf({});
  await using receiver = await startReceiver();
  {
    await using before = openWebhooks(folder.path('.'), { isPaused: true });
    before.subscribe(receiver.url);
    for (const number of [1, 2]) before.add(number);
    before.database.exec(
      `DROP INDEX deliveries_of_webhook; DROP INDEX deliveries_held; ALTER TABLE deliveries DROP COLUMN held;
       CREATE INDEX deliveries_by_due ON deliveries (webhook, due);
       UPDATE deliveries SET retry = 2, due = due + 3600000 WHERE block = 1`,
    );
  }
  await using after = openWebhooks(folder.path('.'));
  await after.webhooks.settled();
  expect(blocksOf(receiver.received)).toEqual([1, 2]);
  expect(receiver.received.map(retryOf)).toEqual(['2', '0']);
});

describe('within a transaction of the database', () => {
  test('deliveries are sent once it ends, and not at all when it is rolled back', async () => {
    await using folder = await folderOf({});
    await using receiver = await startReceiver();
    await using opened = openWebhooks(folder.path('.'));
    opened.subscribe(receiver.url);
    const failing = () =>
      opened.add(1, () => {
        throw new Error('the disk is full');
      });
    expect(failing).toThrow('the disk is full');
    opened.add(2);
    await opened.webhooks.settled();
    expect(blocksOf(receiver.received)).toEqual([2]);
  });

  test('those of unwound blocks are dropped, unless it is rolled back', async () => {
    await using folder = await folderOf({});
    await using receiver = await startReceiver();
    await using opened = openWebhooks(folder.path('.'));
    opened.subscribe(receiver.url);
    for (const number of [1, 2, 3]) opened.add(number);
    const failing = () =>
      inTransaction(opened.database, () => {
        opened.webhooks.dropBlocks(1, 1);
        throw new Error('the node is gone');
      });
    expect(failing).toThrow('the node is gone');
    inTransaction(opened.database, () => opened.webhooks.dropBlocks(1, 3));
    await opened.webhooks.settled();
    expect(blocksOf(receiver.received).toSorted()).toEqual([1, 2]);
  });

  test('those of unwound blocks that are to be tried again are dropped too', async () => {
    await using folder = await folderOf({});
    await using receiver = await startReceiver(() => 500);
    await using opened = openWebhooks(folder.path('.'), { retries: { firstMs: 50, factor: 1 } });
    opened.subscribe(receiver.url);
    opened.add(1);
    await receiver.until(1);
    inTransaction(opened.database, () => opened.webhooks.dropBlocks(1, 1));
    await opened.webhooks.settled();
    expect(receiver.received).toHaveLength(1);
  });
});

/** Waits, while time stands still, until a condition holds. */
const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`expected ${condition}`);
    await setImmediate();
  }
};

describe('retries', () => {
  afterEach(() => void vi.useRealTimers());

  test('are five, each later than the one before, within a day', async () => {
    await using folder = await folderOf({});
    const times: number[] = [];
    await using receiver = await startReceiver(() => {
      times.push(Date.now());
      return 500;
    });
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const lines: unknown[] = [];
    const ends: string[] = [];
    await using opened = openWebhooks(folder.path('.'), {
      log: (message) => lines.push(message),
      onDeliveryEnd: (end) => ends.push(end),
    });
    const id = opened.subscribe(receiver.url);
    opened.add(1);
    const queue = opened.store.deliveries;
    // An attempt is made in real time, and the time until the next one passes at once.
    for (let tried = 1; tried <= 6; tried++) {
      const waitMs = () => (queue.heldUntil(id) ?? 0) - Date.now();
      await until(() => times.length === tried && (waitMs() > 0 || tried === 6));
      await vi.advanceTimersByTimeAsync(Math.max(0, waitMs()));
    }
    await until(() => queue.count(id) === 0);
    expect(receiver.received.map(retryOf)).toEqual(['0', '1', '2', '3', '4', '5']);
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(waits).toEqual(waits.toSorted((one, other) => one - other));
    const hours = waits.reduce((sum, wait) => sum + wait, 0) / 3_600_000;
    expect(hours).toBeGreaterThan(11);
    expect(hours).toBeLessThanOrEqual(24);
    expect(lines.filter((line) => line !== 'delivery refused')).toEqual(['delivery abandoned']);
    expect(ends).toEqual([...Array(5).fill('retried'), 'abandoned']);
  });
});

test('a webhook whose url is down for long keeps what fits, and the rest is dropped by name', async () => {
  await using folder = await folderOf({});
  const lines: [string, unknown][] = [];
  const ends: string[] = [];
  await using opened = openWebhooks(folder.path('.'), {
    maxPending: 3,
    log: (...line) => lines.push(line),
    onDeliveryEnd: (end) => ends.push(end),
  });
  const webhookId = opened.subscribe('http://127.0.0.1:9/');
  for (const number of [1, 2, 3, 4, 5]) opened.add(number);
  const dropped = ['delivery dropped', { webhookId, pending: 3 }];
  expect([opened.store.deliveries.count(webhookId), lines]).toEqual([3, [dropped, dropped]]);
  expect(ends).toEqual(['dropped', 'dropped']);
});

test('what an earlier version left pending is sent, and counts as pending since it was opened', async () => {
  await using folder = await folderOf({});
  await using receiver = await startReceiver();
  {
    await using earlier = openWebhooks(folder.path('.'));
    earlier.subscribe(receiver.url);
    earlier.database.exec('ALTER TABLE deliveries DROP COLUMN added');
    earlier.database.exec(
      "INSERT INTO deliveries (webhook, chain, block, due, body) VALUES (1, 1, 1, 0, '{}')",
    );
  }
  const openedAt = Date.now();
  await using opened = openWebhooks(folder.path('.'));
  const { count, oldestAt } = opened.store.deliveries.pending();
  expect(count).toBe(1);
  expect(oldestAt).toBeGreaterThanOrEqual(openedAt);
  expect(oldestAt).toBeLessThanOrEqual(Date.now() + 1);
  await opened.webhooks.settled();
  expect(receiver.received.map(({ body }) => body)).toEqual(['{}']);
});

const PROCESS = fileURLToPath(new URL('../support/delivering-process.ts', import.meta.url));

test('a process that is killed loses nothing of the blocks that it has added', {
  timeout: 120_000,
}, async () => {
  await using folder = await folderOf({});
  // Some fail, so that there are retries at each moment.
  await using receiver = await startReceiver((index) => (index % 5 === 0 ? 500 : 200));
  {
    await using first = openWebhooks(folder.path('.'), { maxPending: 1e6 });
    first.subscribe(receiver.url);
  }
  for (let kill = 0; kill < runs(20); kill++) {
    const child = spawn(process.execPath, [PROCESS, folder.path('.')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    let printed = 0;
    for await (const chunk of child.stdout) {
      printed += String(chunk).split('\n').length - 1;
      if (printed > 10 + kill * 7) break;
    }
    child.kill('SIGKILL');
    await exited;
  }
  await using last = openWebhooks(folder.path('.'), { retries: { firstMs: 1, factor: 1 } });
  await last.webhooks.settled();
  const added = last.database.prepare('SELECT number FROM added').all();
  const delivered = new Set(blocksOf(receiver.received));
  expect(added.length).toBeGreaterThan(runs(20) * 10);
  expect(delivered).toEqual(new Set(added.map(({ number }) => Number(number))));
});
