import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { DeliveryLog, NewDelivery } from '../../src/deliveries/log/log.ts';
import { openRedisLog } from '../../src/deliveries/redis/log.ts';
import { openSqliteLog } from '../../src/deliveries/sqlite/log.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { launchRedis, removeFolder } from '../../test/support/redis/server.ts';
import { decimals, print, Times } from '../harness/figures.ts';
import { deliveryOf } from './delivery.ts';

const DELIVERIES = 1_000_000;
const OF_THE_WALLET = 20;
const BATCH = 2000;
const PAGES = 101;
const SETTLED_MS = 120_000;

const WALLET = `0x${'d'.repeat(40)}`;
const RETENTION = { retentionHours: 168, retentionCount: 2 * DELIVERIES };

const numbered = (number: number): NewDelivery => {
  const delivery = deliveryOf(number);
  const isOfTheWallet = number % (DELIVERIES / OF_THE_WALLET) === 7;
  return isOfTheWallet ? { ...delivery, addresses: [...delivery.addresses, WALLET] } : delivery;
};

/** Reads the wallet's page again and again, one after the other: the newest 20, of 1,000,000 deliveries. */
const readPages = async (log: DeliveryLog) => {
  const times = new Times();
  let scanned = 0;
  const before = process.cpuUsage();
  for (let turn = 0; turn < PAGES; turn += 1) {
    const since = performance.now();
    const filter = { addresses: [[WALLET]] };
    const page = await log.read('default', { limit: OF_THE_WALLET, take: 'newest', filter });
    times.add(performance.now() - since);
    if (page.deliveries.length !== OF_THE_WALLET)
      throw new Error(`Expected ${OF_THE_WALLET} deliveries, got ${page.deliveries.length}`);
    scanned = page.scanned;
  }
  const { user, system } = process.cpuUsage(before);
  return { medianMs: times.summary().p50Ms, cpuMs: (user + system) / 1000 / PAGES, scanned };
};

const measure = async (name: string, log: DeliveryLog): Promise<void> => {
  for (let first = 0; first < DELIVERIES; first += BATCH)
    await log.append(Array.from({ length: BATCH }, (_, index) => numbered(first + index)));
  // The index is made in the background: until then a page scans the log.
  const since = performance.now();
  while ((await readPages(log)).scanned > OF_THE_WALLET * 100 && performance.now() - since < SETTLED_MS);
  const { medianMs, cpuMs, scanned } = await readPages(log);
  print(
    `${name}: ${decimals(medianMs)} ms in the median, ${decimals(cpuMs)} ms of this process' CPU, ${scanned} scanned`,
  );
  await log.close();
};

/** What one page of a wallet's 20 deliveries among 1,000,000 of others takes, by the filter for addresses. */
export const measureWalletEvents = async (): Promise<void> => {
  await using made = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-wallet-events-'));
  made.defer(() => removeFolder(dataDir));
  await measure('SQLite', await openSqliteLog({ dataDir, ...RETENTION }));
  const server = await launchRedis({ settings: ['--appendonly', 'no'] });
  made.defer(() => server.stop());
  const redis = await connectRedis({ urls: [server.url] });
  await measure('Redis', await openRedisLog({ redis, minReplicas: 0, ...RETENTION }));
  redis.close();
};
