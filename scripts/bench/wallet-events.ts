import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { DeliveryLog, NewDelivery } from '../../src/deliveries/log/log.ts';
import { openRedisLog } from '../../src/deliveries/redis/log.ts';
import { openSqliteLog } from '../../src/deliveries/sqlite/log.ts';
import { connectRedis } from '../../src/redis/connection.ts';
import { launchRedis } from '../../test/support/redis/server.ts';
import { concernedBy, deliveryBody, WEBHOOK } from './delivery.ts';
import { median } from './processes.ts';

const DELIVERIES = 1_000_000;
const OF_THE_WALLET = 20;
const BATCH = 2000;
const PAGES = 101;

const WALLET = `0x${'d'.repeat(40)}`;
const TENANT = 'bench';

const isOfTheWallet = (number: number): boolean => number % (DELIVERIES / OF_THE_WALLET) === 7;

const deliveryOf = (number: number): NewDelivery => ({
  tenant: TENANT,
  webhookId: WEBHOOK,
  type: 'activities',
  chainId: 8453,
  receivedAt: Date.now(),
  dispatchedAt: null,
  attempt: 0,
  body: deliveryBody(number),
  addresses: isOfTheWallet(number) ? [...concernedBy(number), WALLET] : concernedBy(number),
  subscribedAddress: null,
});

const fill = async (log: DeliveryLog): Promise<void> => {
  for (let first = 0; first < DELIVERIES; first += BATCH)
    await log.append(Array.from({ length: BATCH }, (_, index) => deliveryOf(first + index)));
};

type Read = { readonly medianMs: number; readonly cpuMs: number; readonly scanned: number };

/** Reads the wallet's page again and again, one after the other: the newest 20, of 1,000,000 deliveries. */
const readPages = async (log: DeliveryLog): Promise<Read> => {
  const times: number[] = [];
  let scanned = 0;
  const before = process.cpuUsage();
  for (let turn = 0; turn < PAGES; turn += 1) {
    const since = performance.now();
    const page = await log.read(TENANT, {
      limit: OF_THE_WALLET,
      take: 'newest',
      filter: { addresses: [[WALLET]] },
    });
    times.push(performance.now() - since);
    if (page.deliveries.length !== OF_THE_WALLET)
      throw new Error(`Expected ${OF_THE_WALLET} deliveries, got ${page.deliveries.length}`);
    scanned = page.scanned;
  }
  const { user, system } = process.cpuUsage(before);
  return { medianMs: median(times), cpuMs: (user + system) / 1000 / PAGES, scanned };
};

const print = (name: string, { medianMs, cpuMs, scanned }: Read): void => {
  const figures = `${medianMs.toFixed(2)} ms in the median, ${cpuMs.toFixed(2)} ms of this process' CPU, ${scanned} scanned`;
  process.stdout.write(`${name}: ${figures}\n`);
};

/** Resolves once a page has taken no longer than the one before it for a second: the index is made in the background. */
const settled = async (log: DeliveryLog): Promise<number> => {
  const since = performance.now();
  for (let scanned = Number.POSITIVE_INFINITY; scanned > OF_THE_WALLET * 100; ) {
    ({ scanned } = await readPages(log));
    if (performance.now() - since > 120_000) break;
  }
  return performance.now() - since;
};

const inSqlite = async (): Promise<void> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-wallet-events-'));
  const options = { dataDir, retentionHours: 168, retentionCount: 2 * DELIVERIES };
  try {
    const log = await openSqliteLog(options);
    await fill(log);
    await settled(log);
    print('SQLite', await readPages(log));
    await log.close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
};

const inRedis = async (): Promise<void> => {
  const redis = await launchRedis({ settings: ['--appendonly', 'no'] });
  try {
    const connection = await connectRedis({ urls: [redis.url] });
    const log = await openRedisLog({
      redis: connection,
      retentionHours: 168,
      retentionCount: 2 * DELIVERIES,
      minReplicas: 0,
    });
    await fill(log);
    await settled(log);
    print('Redis', await readPages(log));
    await log.close();
    connection.close();
  } finally {
    await redis.stop();
  }
};

/** What one page of a wallet's 20 deliveries among 1,000,000 of others takes, by the filter for addresses. */
export const measureWalletEvents = async (): Promise<void> => {
  await inSqlite();
  await inRedis();
};
