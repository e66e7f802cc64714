import { monotonicClock } from '../../lib/deadlines.ts';
import type { RedisConnection } from '../../redis/connection.ts';
import { AppendLimit, AppendListeners, RecentGrowth } from '../log/appends.ts';
import { encodeCursor } from '../log/cursor.ts';
import { LogClosedError, ReadAbortedError } from '../log/errors.ts';
import type {
  AppendListener,
  AppendResult,
  Changes,
  DeliveryLog,
  DeliveryPage,
  DeliveryRange,
  LogOptions,
  LogSize,
  NewDelivery,
  ReadOptions,
  StoredDelivery,
} from '../log/log.ts';
import { retentionOf, startTrimming } from '../log/retention.ts';
import { packBatch, RedisAppendQueue } from './append-queue.ts';
import { entryOf } from './entry.ts';
import { RedisReader } from './reader.ts';
import { Replication } from './replication.ts';
import { RedisTime, RedisTrimmer } from './retention.ts';
import {
  APPEND,
  CHANNEL,
  CHECK_CHANNEL,
  CHECK_KEYS,
  growthIn,
  type OnMended,
  READ,
  SEED,
  Store,
  TRIM,
} from './store.ts';
import { checkFence, Tenants } from './tenants.ts';

export type RedisLogOptions = LogOptions & {
  readonly redis: RedisConnection;
  /** The connection for appends, of its own where `minReplicas` is not 0. Default: `redis`. */
  readonly writer?: RedisConnection | undefined;
  /** How many replicas must have a delivery before it counts as stored. Default: 0. */
  readonly minReplicas?: number | undefined;
  readonly onMended?: OnMended | undefined;
  /** Is called when Redis has lost the log, or has another one than before. */
  readonly onLost?: (() => void) | undefined;
};

const REPLICAS_WAIT_MS = 1000;

/**
 * Opens the log in Redis, which any number of gateways share, and begins to trim it. It does not close the connections.
 * Rejects with LogUnavailableError when Redis fails.
 */
export const openRedisLog = async (options: RedisLogOptions): Promise<DeliveryLog> => {
  const { redis, writer = redis, minReplicas = 0, onMended } = options;
  const store = new Store({ redis, writer, minReplicas, waitMs: REPLICAS_WAIT_MS, onMended });
  const tenants = await Tenants.open(store, options.onLost);
  const replication = minReplicas === 0 ? null : await Replication.listen(redis, store);
  const { now, monotonic = monotonicClock, retentionObserver: observer = {} } = options;
  const time = await RedisTime.open({ store, now, monotonic, observer });
  return new RedisLog(options, { store, tenants, replication, time, wakeUp: await WakeUp.listen(redis) });
};

/** Rejects with LogUnavailableError where this gateway must not use the log in Redis: a copy fences it, or its format is newer. */
export const checkRedisLog = async (redis: RedisConnection): Promise<void> => {
  await Tenants.open(new Store({ redis, writer: redis, minReplicas: 0, waitMs: 0 }));
};

type Parts = {
  readonly store: Store;
  readonly tenants: Tenants;
  readonly replication: Replication | null;
  readonly time: RedisTime;
  readonly wakeUp: WakeUp;
};

class RedisLog implements DeliveryLog {
  readonly #store: Store;
  readonly #tenants: Tenants;
  readonly #limit: AppendLimit;
  readonly #appends: RedisAppendQueue;
  readonly #reader: RedisReader;
  readonly #wakeUp: WakeUp;
  readonly #trimming: ReturnType<typeof startTrimming>;
  readonly #replication: Replication | null;
  #closing: Promise<void> | null = null;

  constructor(options: RedisLogOptions, { store, tenants, replication, time, wakeUp }: Parts) {
    const { now } = options;
    const trimmer = new RedisTrimmer({ store, tenants, retention: retentionOf(options) });
    this.#store = store;
    this.#tenants = tenants;
    this.#limit = new AppendLimit(options.maxWaitingBytes);
    this.#appends = new RedisAppendQueue({
      store,
      tenants,
      now,
      replication,
      onCount: (tenant, count) => trimmer.observeCount(tenant, count),
    });
    this.#reader = new RedisReader(store, tenants, replication);
    this.#replication = replication;
    replication?.start((tenant) => this.#open(() => this.#appends.replicate(tenant)));
    this.#wakeUp = wakeUp;
    // A Redis that comes back may have lost its data, or have older ones.
    options.redis.onReopened(() => {
      this.#reader.forget();
      void tenants.refresh().catch(() => {});
    });
    const trim = async () => {
      await tenants.check();
      await trimmer.trim(await time.read());
    };
    this.#trimming = startTrimming(() => this.#open(trim), options.retentionObserver?.failed);
  }

  append(batch: readonly NewDelivery[]): Promise<readonly AppendResult[]> {
    return this.#open(async () => {
      const stored = await this.#limit.run(batch, () => this.#appends.append(batch));
      return stored.map(({ duplicate, ...place }): AppendResult => {
        return { cursor: encodeCursor(place), sequence: place.sequence, duplicate };
      });
    });
  }

  read(tenant: string, range: DeliveryRange, { signal }: ReadOptions = {}): Promise<DeliveryPage> {
    return this.#open(() => abortable(this.#reader.page(tenant, range, signal), signal));
  }

  get(tenant: string, cursor: string, { signal }: ReadOptions = {}): Promise<StoredDelivery | null> {
    return this.#open(() => abortable(this.#reader.get(tenant, cursor), signal));
  }

  head(tenant: string): Promise<string> {
    return this.#open(() => this.#reader.head(tenant));
  }

  check(): Promise<void> {
    return this.#open(() => checkStore(this.#store));
  }

  changed(mark: string | null): Promise<Changes> {
    return this.#open(async () => this.#wakeUp.changed(mark));
  }

  size(): Promise<LogSize> {
    return this.#open(() => this.#tenants.size());
  }

  trim(): Promise<void> {
    return this.#trimming.trim();
  }

  onAppend(notify: AppendListener): () => void {
    return this.#wakeUp.listeners.add(notify);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#trimming.stop();
    this.#replication?.stop();
    await this.#appends.drain();
    // Blocked readers read again, and get LogClosedError.
    this.#wakeUp.listeners.notify(null);
  }

  async #open<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#closing) throw new LogClosedError();
    return task();
  }
}

/** The read goes on in Redis, but its caller no longer waits for it. */
const abortable = async <Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> => {
  if (signal === undefined) return answer;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new ReadAbortedError());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
};

const DELIVERY: NewDelivery = {
  tenant: '',
  webhookId: null,
  type: 'activities',
  chainId: null,
  receivedAt: 0,
  dispatchedAt: null,
  attempt: null,
  body: Buffer.from('{"activities":[]}'),
  addresses: [],
  subscribedAddress: null,
};

const EPOCH = Buffer.alloc(8);

/**
 * Runs the scripts by which deliveries are stored, read and dropped, on keys of their own, and reads what all tenants
 * need. Any number of gateways may do so at the same time. Rejects with LogUnavailableError when Redis fails or refuses one
 * of them, or too few replicas have the delivery.
 */
const checkStore = async (store: Store): Promise<void> => {
  const { prefix, entries } = CHECK_KEYS;
  const batch = packBatch([await entryOf(DELIVERY)]);
  await store.write(APPEND, entries, [prefix, CHECK_CHANNEL, '', EPOCH, batch, '', '']);
  await store.run(READ, entries, ['', '', 'newest', '1', '1024', prefix, '']);
  await store.run(TRIM, entries, [prefix, '0', '0', '0', '16']);
  checkFence((await store.get(SEED)) ?? Buffer.alloc(0));
};

/** A node of a Cluster may lose a message on its way to another one, without any sign of it. */
const CLUSTER_RECHECK_MS = 30_000;

/**
 * Hears of every append of every gateway over one connection, however many tenants and readers there are. While that
 * connection is lost, messages are; so whenever it is open again, all readers look.
 */
class WakeUp {
  readonly listeners = new AppendListeners();
  readonly #growth = new RecentGrowth();
  readonly #isCluster: boolean;
  #recheckedAt = performance.now();

  private constructor(isCluster: boolean) {
    this.#isCluster = isCluster;
  }

  static async listen(redis: RedisConnection): Promise<WakeUp> {
    const wakeUp = new WakeUp(redis.isCluster);
    redis.onReopened(() => wakeUp.#lost());
    await redis.subscribe(CHANNEL, (message) => {
      const { head, tenant } = growthIn(message);
      wakeUp.#growth.add(tenant, head);
      wakeUp.listeners.notify([tenant]);
    });
    return wakeUp;
  }

  /** See `changed` of the log. */
  changed(mark: string | null): Changes {
    if (this.#isCluster && performance.now() - this.#recheckedAt > CLUSTER_RECHECK_MS) {
      this.#recheckedAt = performance.now();
      this.#lost();
    }
    return this.#growth.since(mark);
  }

  #lost(): void {
    this.#growth.missed();
    this.listeners.notify(null);
  }
}
