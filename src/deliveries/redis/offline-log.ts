import { randomBytes } from 'node:crypto';
import type { RedisConnection } from '../../redis/connection.ts';
import { epochOf, UNKNOWN } from '../log/cursor.ts';
import { LogOpenError } from '../log/errors.ts';
import { type Fence, readFence, writeFence } from '../log/fence.ts';
import type { OfflineLog, TenantLog, WholeDelivery } from '../log/offline-log.ts';
import type { KeptTime } from '../log/retention.ts';
import { packBatch, portionsOf } from './append-queue.ts';
import { entryOf, fingerprintIn, readBody, readHeader } from './entry.ts';
import { MARK_BYTES } from './layout.ts';
import { keepTime, keptTime } from './retention.ts';
import {
  APPEND,
  BEGIN,
  bytesIn,
  CHANNEL,
  CHECK_CHANNEL,
  ENTRIES,
  HOLD,
  REPLACE,
  type ScriptReply,
  SEED,
  Store,
  TENANTS,
  TRIM,
  tenantKeys,
} from './store.ts';
import { SEED_BYTES } from './tenants.ts';

/** What one call of `deliveries` reads at most: Redis serves nothing else meanwhile. */
const DELIVERIES_AT_ONCE = 256;
const BYTES_AT_ONCE = 1024 * 1024;
const DROPPED_AT_ONCE = 256;
const REPLICAS_WAIT_MS = 5000;

type Options = {
  readonly redis: RedisConnection;
  /** Without user and password. */
  readonly name: string;
  /** How many replicas must have what is written. */
  readonly minReplicas: number;
};

/** The log in Redis, for work on all of it. It does not close the connection. */
export const wholeRedisLog = ({ redis, name, minReplicas }: Options): OfflineLog => {
  const store = new Store({ redis, writer: redis, minReplicas, waitMs: REPLICAS_WAIT_MS });
  return new OfflineRedisLog(redis, store, name);
};

/** Rejects with LogOpenError while gateways use this Redis: as many as hear of deliveries over a connection of their own. */
export const checkNoGateways = async (redis: RedisConnection, name: string): Promise<void> => {
  const replies = await redis.sendToPrimaries(['PUBSUB', 'NUMSUB', CHANNEL]);
  const gateways = replies.reduce<number>(
    (sum, reply) => sum + Number(Array.isArray(reply) ? reply[1] : 0),
    0,
  );
  if (gateways > 0)
    throw new LogOpenError(name, `expected no gateway on this Redis, found ${gateways}: stop them first`);
};

class OfflineRedisLog implements OfflineLog {
  readonly name: string;
  readonly #redis: RedisConnection;
  readonly #store: Store;

  constructor(redis: RedisConnection, store: Store, name: string) {
    this.#redis = redis;
    this.#store = store;
    this.name = name;
  }

  async seed(): Promise<Buffer | null> {
    const kept = await this.#store.get(SEED);
    return kept?.subarray(0, SEED_BYTES) ?? null;
  }

  async fence(): Promise<Fence | null> {
    const kept = await this.#store.get(SEED);
    return readFence(String(kept?.subarray(SEED_BYTES) ?? ''));
  }

  async replaceFence(before: Fence | null, after: Fence | null): Promise<boolean> {
    const seed = (await this.seed()) ?? Buffer.alloc(0);
    const [from, to] = [withFence(seed, before), withFence(seed, after)];
    const [replaced] = await this.#store.write(REPLACE, [SEED], [from, to]);
    return replaced === 1;
  }

  async create(seed: Buffer, fence: Fence): Promise<void> {
    await this.#store.sendReplacing(SEED, 'SET', SEED, withFence(seed, fence));
  }

  async renewEpochs(): Promise<void> {
    const seed = randomBytes(SEED_BYTES);
    await this.#store.send(SEED, 'SET', SEED, withFence(seed, await this.fence()));
    for await (const tenant of this.tenants()) {
      const [, state] = tenantKeys(tenant).entries;
      await this.#store.send(state, 'HSET', state, 'epoch', epochOf(seed, tenant));
    }
  }

  /** Those of all keys, since the set of tenants can be lost. */
  async *tenants(): AsyncGenerator<string> {
    const seen = new Set<string>();
    for await (const key of this.#redis.scan('gateway:{*}:st*')) {
      const tenant = decodeURIComponent(/^gateway:\{(.*)\}:(?:stream|state)$/.exec(key)?.[1] ?? '');
      if (tenant === '' || seen.has(tenant)) continue;
      seen.add(tenant);
      yield tenant;
    }
  }

  tenant(tenant: string): Promise<TenantLog | null> {
    return this.#state(tenant, '');
  }

  hold(tenant: string): Promise<TenantLog | null> {
    return this.#state(tenant, 'hold');
  }

  async release(tenant: string): Promise<void> {
    await this.#state(tenant, 'release');
  }

  async #state(tenant: string, change: 'hold' | 'release' | ''): Promise<TenantLog | null> {
    const { prefix, entries } = tenantKeys(tenant);
    const [head, floor, epoch, , trimmed] = await this.#store.write(HOLD, entries, [prefix, change]);
    if (head === undefined) return null;
    return {
      head: Number(head),
      floor: Number(floor),
      epoch: bytesIn(epoch),
      trimmed: fingerprintIn(bytesIn(trimmed)),
    };
  }

  async begin(tenant: string, { floor, epoch, trimmed }: TenantLog): Promise<void> {
    const { prefix, entries } = tenantKeys(tenant);
    await this.#store.write(BEGIN, entries, [prefix, String(floor), epoch, markOf(trimmed)]);
    await this.#store.send(TENANTS, 'ZADD', TENANTS, 'NX', '0', tenant);
  }

  async deliveries(tenant: string, after: number): Promise<readonly WholeDelivery[]> {
    const limits = [after, DELIVERIES_AT_ONCE, BYTES_AT_ONCE].map(String);
    const reply = await this.#store.run(ENTRIES, tenantKeys(tenant).entries, limits);
    return Promise.all(
      Array.from({ length: reply.length / ITEMS }, (_, index) =>
        deliveryOf(tenant, reply.slice(index * ITEMS, (index + 1) * ITEMS)),
      ),
    );
  }

  async append(tenant: string, after: number, deliveries: readonly WholeDelivery[]): Promise<number> {
    const { prefix, entries: keys } = tenantKeys(tenant);
    const pending = deliveries.map((one) => ({ ...one, bytes: one.body.byteLength, entry: entryOf(one) }));
    let head = after;
    for (const [storedAt, portion] of portionsOf(pending).flatMap(byTime)) {
      const batch = packBatch(await Promise.all(portion.map(({ entry }) => entry)));
      const times = [storedAt === null ? '' : String(storedAt), '', String(head)];
      const args = [prefix, CHECK_CHANNEL, '', Buffer.alloc(0), batch, ...times];
      const appended = Number((await this.#store.write(APPEND, keys, args))[0]);
      if (appended !== head + portion.length) return appended;
      head = appended;
    }
    return head;
  }

  async drop(tenant: string): Promise<number> {
    const { prefix, entries } = tenantKeys(tenant);
    const before = await this.tenant(tenant);
    if (before === null) return 0;
    for (let hasMore = true; hasMore; ) {
      const args = [prefix, '0', '0', '0', String(DROPPED_AT_ONCE)];
      hasMore = (await this.#store.write(TRIM, entries, args))[0] === 1;
    }
    return ((await this.tenant(tenant))?.floor ?? before.head) - before.floor;
  }

  time(): Promise<KeptTime | null> {
    return keptTime(this.#store);
  }

  keepTime(time: KeptTime): Promise<void> {
    return keepTime(this.#store, time);
  }

  /** Redis makes each write durable as its own settings say. */
  async flush(): Promise<void> {}

  async close(): Promise<void> {}
}

const ITEMS = 4;

const deliveryOf = async (tenant: string, items: ScriptReply): Promise<WholeDelivery> => {
  const [sequence, header, stored, storedAt] = items;
  const { identity: _identity, size: _size, isCompressed: _flag, ...fields } = readHeader(bytesIn(header));
  const body = await readBody(Number(sequence), readHeader(bytesIn(header)), bytesIn(stored));
  const time = String(bytesIn(storedAt));
  return { tenant, sequence: Number(sequence), ...fields, body, storedAt: time === '' ? null : Number(time) };
};

/** One script has one time for its deliveries, so it gets those that follow each other with the same one. */
const byTime = <Timed extends { readonly storedAt: number | null }>(
  portion: readonly Timed[],
): (readonly [number | null, Timed[]])[] => {
  const groups: (readonly [number | null, Timed[]])[] = [];
  for (const one of portion) {
    const last = groups.at(-1);
    if (last?.[0] === one.storedAt) last[1].push(one);
    else groups.push([one.storedAt, [one]]);
  }
  return groups;
};

/** A fence stands behind the seed, in one value, so that they are read and written at once. */
const withFence = (seed: Buffer, fence: Fence | null): Buffer =>
  fence === null ? seed : Buffer.concat([seed, Buffer.from(writeFence(fence))]);

/** A mark of which `fingerprintIn` makes this fingerprint: another log has no more of its last trimmed delivery. */
const markOf = (fingerprint: number): Buffer => {
  if (fingerprint === UNKNOWN) return Buffer.alloc(0);
  const mark = Buffer.alloc(MARK_BYTES);
  mark.writeUIntBE(fingerprint, 0, 6);
  return mark;
};
