import { expect, onTestFinished, test } from 'vitest';
import { FeedCache } from '../../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../../src/deliveries/feed/change-notifier.ts';
import { Feed } from '../../../src/deliveries/feed/feed.ts';
import { MergedReads } from '../../../src/deliveries/feed/merged-reads.ts';
import type { CursorExpiredError } from '../../../src/deliveries/log/errors.ts';
import { openRedisLog } from '../../../src/deliveries/redis/log.ts';
import { connectRedis } from '../../../src/redis/connection.ts';
import { startForwarder } from '../../support/redis/forwarder.ts';
import { PATIENT_TIMES } from '../../support/redis/patience.ts';
import { needRedis, startRedis } from '../../support/redis/server.ts';
import { appendNumbers, numberOf, range, readAll, TENANT } from '../support/builders.ts';
import { iterate } from '../support/iterate.ts';

/** A replica is promoted that has not received the newest deliveries. */

const failOver = async () => {
  const [primary, replica] = [await startRedis(), await startRedis()];
  const name = await startForwarder(primary);
  const replication = await startForwarder(primary);
  await replica.run('REPLICAOF', '127.0.0.1', String(replication.port));
  const redis = await connectRedis({ urls: [name.url], times: PATIENT_TIMES });
  onTestFinished(() => redis.close());
  const log = await openRedisLog({ redis, retentionHours: 1, retentionCount: 1000, now: () => 1_000_000 });
  onTestFinished(() => log.close());
  return {
    log,
    /** Resolves when the replica has what was appended before. */
    replicated: () =>
      expect
        .poll(async () => Number((await redis.sendReplicated('key', ['SET', 'key', '1'], 1, 1000)).replicas))
        .toBe(1),
    /** What is appended from now on is lost. */
    cut: () => replication.cut(),
    async promote(): Promise<void> {
      await primary.crash();
      await replica.run('REPLICAOF', 'NO', 'ONE');
      name.lead(replica);
    },
  };
};

const appendWhenOpen = async (log: Parameters<typeof appendNumbers>[0], numbers: readonly number[]) => {
  await expect.poll(() => log.check().then(() => 'open', String)).toBe('open');
  return appendNumbers(log, numbers);
};

test('a reader goes back to what is left, also while a slow one holds the same feed open', async (context) => {
  await needRedis(context);
  const { log, replicated, cut, promote } = await failOver();
  const kept = await appendNumbers(log, range(1, 5));
  await replicated();
  cut();
  await appendNumbers(log, range(6, 9));

  const feed = new Feed({
    log,
    reads: new MergedReads(log),
    changeNotifier: new ChangeNotifier(log),
    tenant: TENANT,
    filter: {},
    cache: new FeedCache(1_000_000),
    render: numberOf,
    sizeOf: () => 8,
  });
  const open = (after: string) => {
    const reader = iterate((wake) => feed.read(after, wake));
    onTestFinished(async () => void (await reader.return?.()));
    return reader;
  };
  const takeFrom = async (reader: ReturnType<typeof open>, count: number) => {
    const numbers: (number | undefined)[] = [];
    while (numbers.length < count) numbers.push((await reader.next()).value);
    return numbers;
  };
  const slow = open(kept[0] ?? '');
  const quick = open(kept[4] ?? '');
  expect(await takeFrom(quick, 4)).toEqual(range(6, 9));
  const next = quick.next();
  next.catch(() => {});
  await promote();
  await appendWhenOpen(log, [10, 11]);
  const expiry: Partial<CursorExpiredError> = { reason: expect.stringMatching(/^(ahead|replaced)$/) };
  await expect(next).rejects.toMatchObject(expiry);

  expect((await readAll(log, kept[4])).map(numberOf)).toEqual([10, 11]);
  expect(await takeFrom(open(kept[4] ?? ''), 2)).toEqual([10, 11]);
  expect(await takeFrom(slow, 6)).toEqual([...range(2, 5), 10, 11]);
});
