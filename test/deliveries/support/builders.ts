import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FeedCache } from '../../../src/deliveries/feed/cache.ts';
import { ChangeNotifier } from '../../../src/deliveries/feed/change-notifier.ts';
import { createDeliverySource } from '../../../src/deliveries/feed/feed.ts';
import { MergedReads } from '../../../src/deliveries/feed/merged-reads.ts';
import type {
  DeliveryFilter,
  DeliveryLog,
  NewDelivery,
  StoredDelivery,
} from '../../../src/deliveries/log/log.ts';
import type { SqliteLogOptions } from '../../../src/deliveries/sqlite/log.ts';
import { openLogInSharedThreads } from '../../support/gateway/log-threads.ts';
import { iterateSource } from './iterate.ts';

export const TENANT = 'default';
export const WEBHOOK = '0190a3f4-0000-7000-8000-000000000001';
export const HOUR_MS = 3_600_000;

/** A 20-byte address that ends in the number. */
export const address = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;

/** A delivery whose body contains its number, so that no two bodies are equal. */
export const delivery = (number: number, changes: Partial<NewDelivery> = {}): NewDelivery => ({
  tenant: TENANT,
  webhookId: WEBHOOK,
  type: 'activities',
  chainId: 1,
  receivedAt: 1_000_000 + number,
  dispatchedAt: null,
  attempt: 0,
  body: Buffer.from(JSON.stringify({ number })),
  addresses: [],
  subscribedAddress: null,
  ...changes,
});

export const numberOf = ({ body }: Pick<StoredDelivery, 'body'>): number =>
  JSON.parse(Buffer.from(body).toString()).number;

export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);

/** Creates a directory that is deleted when the test has finished. */
export const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'deliveries-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

/** Opens a log without a limit of retention by default, whose clocks are in step; it is closed when the test has finished. */
export const openLog = async ({
  now = () => 1_000_000,
  ...options
}: Partial<SqliteLogOptions> = {}): Promise<DeliveryLog> => {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const log = await openLogInSharedThreads({
    retentionHours: 1,
    retentionCount: 1_000_000,
    now,
    monotonic: now,
    ...options,
    dataDir,
  });
  onTestFinished(() => log.close());
  return log;
};

export const appendNumbers = async (log: DeliveryLog, numbers: readonly number[]): Promise<string[]> => {
  const appended = await log.append(numbers.map((number) => delivery(number)));
  return appended.map(({ cursor }) => cursor);
};

/** Reads all deliveries after `after`, by pages of `limit`. */
export const readAll = async (log: DeliveryLog, after?: string, limit = 100): Promise<StoredDelivery[]> => {
  const all: StoredDelivery[] = [];
  for (let position = after; ; ) {
    const page = await log.read(TENANT, { after: position, limit });
    all.push(...page.deliveries);
    if (!page.hasMore) return all;
    position = page.scannedTo;
  }
};

export type Following = {
  readonly after?: string | undefined;
  readonly filter?: DeliveryFilter | undefined;
  readonly pollMs?: number | undefined;
  /** Default: a new one, which polls every `pollMs`. */
  readonly changeNotifier?: ChangeNotifier | undefined;
  /** Default: a new one. */
  readonly reads?: MergedReads | undefined;
};

/** Iterates the tenant's deliveries. */
export const follow = (
  log: DeliveryLog,
  {
    after,
    filter = {},
    pollMs,
    changeNotifier = new ChangeNotifier(log, pollMs),
    reads = new MergedReads(log),
  }: Following = {},
): AsyncIterator<StoredDelivery, undefined> =>
  iterateSource(
    createDeliverySource({
      log,
      reads,
      changeNotifier,
      tenant: TENANT,
      cache: new FeedCache(1_000_000),
      after: after ?? null,
      filter,
    }),
  );

/** The numbers of the next deliveries, in order; fewer if the iteration ends. */
export const take = async (reader: AsyncIterator<StoredDelivery>, count: number): Promise<number[]> => {
  const numbers: number[] = [];
  while (numbers.length < count) {
    const { done, value } = await reader.next();
    if (done) break;
    numbers.push(numberOf(value));
  }
  return numbers;
};
