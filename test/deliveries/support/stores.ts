import { afterAll, beforeEach, describe, onTestFinished } from 'vitest';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import type { RetentionObserver } from '../../../src/deliveries/log/retention.ts';
import { openRedisLog } from '../../../src/deliveries/redis/log.ts';
import type { openSqliteLog } from '../../../src/deliveries/sqlite/log.ts';
import { connectRedis, type RedisConnection } from '../../../src/redis/connection.ts';
import { openLogInSharedThreads } from '../../support/gateway/log-threads.ts';
import { openMemoryLog } from '../../support/gateway/memory-log.ts';
import { launchCluster } from '../../support/redis/cluster.ts';
import { PATIENT_TIMES } from '../../support/redis/patience.ts';
import { launchRedis, needRedis } from '../../support/redis/server.ts';
import { temporaryDirectory } from './builders.ts';

type OpenOptions = {
  /** Default: a new place. */
  readonly place?: string;
  readonly retentionHours?: number;
  readonly retentionCount?: number;
  readonly retentionTotal?: number;
  readonly now?: () => number;
  /** Default: in step with `now`. */
  readonly monotonic?: () => number;
  readonly retentionObserver?: RetentionObserver;
};

export type Store = {
  /** Makes a place for a log, whose content stays when that log is closed. */
  readonly newPlace: () => Promise<string>;
  /** Opens a log without a limit of retention by default; it is closed when the test has finished. */
  readonly openLog: (options?: OpenOptions) => Promise<DeliveryLog>;
};

const withDefaults = ({ now = () => 1_000_000, ...options }: OpenOptions) => ({
  ...{ retentionHours: 1, retentionCount: 1_000_000, now, monotonic: now },
  ...options,
});

const inFolder = (open: typeof openSqliteLog): Store => ({
  newPlace: temporaryDirectory,
  openLog: async ({ place, ...options } = {}) => {
    const dataDir = place ?? (await temporaryDirectory());
    const log = await open({ ...withDefaults(options), dataDir });
    onTestFinished(() => log.close());
    return log;
  },
});

/** Each log has a database of one server, which is started by the first test. */
export const redisOnOneServer = (): Store & { stop(): Promise<void> } => {
  let server: ReturnType<typeof launchRedis> | null = null;
  let databases = 0;
  const newPlace = async (): Promise<string> => {
    server ??= launchRedis({ settings: ['--databases', '10000'] });
    databases += 1;
    return `${(await server).url}/${databases}`;
  };
  return {
    newPlace,
    openLog: async ({ place, ...options } = {}) => openOn([place ?? (await newPlace())], options),
    stop: async () => (await server)?.stop(),
  };
};

/** A log has a Cluster of its own, which has no databases: the two take turns, and each is emptied for its next log. */
const redisCluster = (): Store & { stop(): Promise<void> } => {
  const clusters: ReturnType<typeof launchCluster>[] = [];
  let places = 0;
  const newPlace = async (): Promise<string> => {
    places += 1;
    clusters[places % 2] ??= launchCluster();
    const cluster = await clusters[places % 2];
    await cluster?.empty();
    return cluster?.urls.join(',') ?? '';
  };
  return {
    newPlace,
    openLog: async ({ place, ...options } = {}) => openOn((place ?? (await newPlace())).split(','), options),
    stop: async () => {
      for (const cluster of clusters) await (await cluster)?.[Symbol.asyncDispose]();
    },
  };
};

const openOn = async (urls: readonly string[], options: OpenOptions): Promise<DeliveryLog> => {
  const redis: RedisConnection = await connectRedis({ urls, times: PATIENT_TIMES });
  onTestFinished(() => redis.close());
  const log = await openRedisLog({ ...withDefaults(options), redis });
  onTestFinished(() => log.close());
  return log;
};

/** Runs the same tests over each store of the log, and over the one in memory that stands in for them in other tests. */
export const describeEachStore = (tests: (store: Store) => void): void => {
  describe('in memory', () => tests(inFolder(openMemoryLog)));
  describe('in SQLite', () => tests(inFolder(openLogInSharedThreads)));
  for (const [name, create] of [
    ['in Redis', redisOnOneServer],
    ['in a Cluster of Redis', redisCluster],
  ] as const)
    describe(name, () => {
      const redis = create();
      beforeEach(needRedis);
      afterAll(() => redis.stop());
      tests(redis);
    });
};
