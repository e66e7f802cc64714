import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../lib/memo.ts';
import type { Budgets, ClientBudgets } from '../server/graphql/limits/compute-units.ts';
import type { SharedCooldowns, SharedRate } from '../upstream/client/limits.ts';
import type { SharedKeys } from '../webhooks/session.ts';
import { type RedisScript, readScript } from './client.ts';
import type { RedisConnection } from './connection.ts';
import { createHashName, type HashName } from './names.ts';
import { createRunShared, type RunShared, type SharedObserver } from './run.ts';

/**
 * The limits that hold over all gateways on one Redis. Where Redis fails each gateway goes on with limits of its own.
 *
 *     gateway:budget:client          level and time of a client's bucket
 *     gateway:rate:url               the time of the next free request to upstream
 *     gateway:cooldowns:url          the keys that upstream has told to wait, by the end of their cooldown
 *     gateway:verified:url:key       there while the key counts as verified
 *     gateway:explorer:account       what is known of the limits of an explorer
 */
export type SharedLimits = {
  /** `alone` are the budgets to use when Redis fails. */
  budgets(alone: Budgets): ClientBudgets;
  rate(perSecond: number): SharedRate;
  readonly cooldowns: SharedCooldowns;
  readonly keys: SharedKeys;
  readonly records: SharedRecords;
};

/** Texts that several gateways change. */
type SharedRecords = {
  /**
   * Puts a text in the place of the expected one; null for none. Resolves with whether it was the expected one, the text that is
   * there now, and the time of Redis in milliseconds since 1970. Resolves with null when Redis fails.
   */
  swap(
    name: string,
    expected: string | null,
    next: string,
  ): Promise<{ readonly isSwapped: boolean; readonly text: string | null; readonly now: number } | null>;
};

type Options = {
  readonly redis: RedisConnection;
  readonly secret: string;
  /** Gateways with other base URLs share only budgets with this one. */
  readonly upstreamUrl: string;
  readonly observer: SharedObserver;
};

const read = (name: string): RedisScript => readScript([new URL(`./lua/${name}.lua`, import.meta.url)]);
const CHANGE_BUDGET = read('change-budget');
const RESERVE_SLOT = read('reserve-slot');
const BEGIN_COOLDOWN = read('begin-cooldown');
const COOLDOWNS = read('cooldowns');
const SWAP_RECORD = read('swap-record');

/** Rejects with an error of Redis. */
export const openSharedLimits = async ({
  redis,
  secret,
  upstreamUrl,
  observer,
}: Options): Promise<SharedLimits> => {
  const hashName = createHashName(secret);
  const run = createRunShared(redis, observer);
  const url = hashName('url', upstreamUrl);
  return {
    budgets: (alone) => new RedisBudgets(run, hashName, alone),
    rate: (perSecond) => createRate(run, `gateway:rate:${url}`, perSecond),
    cooldowns: await openCooldowns(redis, run, (key) => hashName('key', key), `gateway:cooldowns:${url}`),
    keys: createKeys(redis, (keyId) => `gateway:verified:${url}:${hashName('verified', keyId)}`),
    records: createRecords(run, (name) => `gateway:explorer:${hashName('explorer', name)}`),
  };
};

/** The least recently charged one is forgotten first. */
const MAX_CLIENTS = 100_000;

class RedisBudgets implements ClientBudgets {
  readonly isShared = true;
  /** What was left of each client's budget when it was last charged here. */
  readonly #known = new LRUCache<string, { readonly units: number; readonly at: number }>(
    atMostEntries(MAX_CLIENTS),
  );
  readonly perMinute: number;
  readonly #run: RunShared;
  readonly #hashName: HashName;
  readonly #alone: Budgets;

  constructor(run: RunShared, hashName: HashName, alone: Budgets) {
    this.perMinute = alone.perMinute;
    this.#run = run;
    this.#hashName = hashName;
    this.#alone = alone;
  }

  async take(client: string, units: number) {
    if (units > this.perMinute || units === 0) return this.#alone.take(client, units);
    const reply = await this.#change(client, units, false);
    if (reply === undefined) {
      const shortfall = this.#alone.take(client, units);
      this.#know(client, this.#alone.left(client));
      return shortfall;
    }
    const [isTaken, left, retryAfterMs] = reply;
    return isTaken === 1 ? null : { left: left ?? 0, retryAfterMs: retryAfterMs ?? 0 };
  }

  left(client: string): number | null {
    const known = this.#known.get(client);
    if (known === undefined) return null;
    const filled = ((performance.now() - known.at) * this.perMinute) / 60_000;
    return Math.min(this.perMinute, known.units + filled);
  }

  settle(client: string, taken: number, spent: number): void {
    if (taken === spent) return;
    // Until Redis has answered.
    this.#know(client, (this.left(client) ?? this.perMinute) + taken - spent);
    void this.#change(client, spent - taken, true).then((reply) => {
      if (reply !== undefined) return;
      this.#alone.settle(client, taken, spent);
      this.#know(client, this.#alone.left(client));
    });
  }

  /** Resolves with undefined when Redis fails. */
  async #change(
    client: string,
    units: number,
    mayOverdraw: boolean,
  ): Promise<readonly (number | undefined)[] | undefined> {
    const keys = [`gateway:budget:${this.#hashName('client', client)}`];
    const args = [units, this.perMinute, mayOverdraw ? '1' : '0'];
    const reply = await this.#run('budget', CHANGE_BUDGET, keys, args);
    if (!Array.isArray(reply)) return undefined;
    const numbers = reply.map(Number);
    this.#know(client, numbers[1] ?? 0);
    return numbers;
  }

  #know(client: string, units: number): void {
    this.#known.set(client, { units, at: performance.now() });
  }
}

const createRate = (run: RunShared, key: string, perSecond: number): SharedRate => ({
  async reserve(maxWaitMs) {
    const reply = await run('rate', RESERVE_SLOT, [key], [1000 / perSecond, maxWaitMs]);
    if (!Array.isArray(reply)) return null;
    const [isReserved, waitMs] = reply.map(Number);
    return { isReserved: isReserved === 1, waitMs: waitMs ?? 0 };
  },
});

/** Cooldowns that started while the connection was lost, or before this gateway did, are read once it is open. */
const openCooldowns = async (
  redis: RedisConnection,
  run: RunShared,
  nameOf: (key: string) => string,
  key: string,
): Promise<SharedCooldowns> => {
  let listener: (name: string, ms: number) => void = () => {};
  const load = async (): Promise<void> => {
    const reply = await run('cooldown', COOLDOWNS, [key], []);
    const parts = Array.isArray(reply) ? reply.map(String) : [];
    for (let index = 0; index < parts.length; index += 2)
      listener(parts[index] ?? '', Number(parts[index + 1]));
  };
  redis.onReopened(() => void load());
  await redis.subscribe(key, (message) => {
    const [name = '', ms] = message.split(' ');
    listener(name, Number(ms));
  });
  return {
    nameOf,
    began: (name, ms) => void run('cooldown', BEGIN_COOLDOWN, [key], [name, Math.ceil(ms), key]),
    async listen(onBegan) {
      listener = onBegan;
      await load();
    },
  };
};

const createKeys = (redis: RedisConnection, nameOf: (keyId: string) => string): SharedKeys => ({
  async verifiedForMs(keyId) {
    const name = nameOf(keyId);
    const leftMs = await redis.send(name, ['PTTL', name]).catch(() => 0);
    return Math.max(0, Number(leftMs));
  },
  async add(keyId, ms) {
    const name = nameOf(keyId);
    await redis.send(name, ['SET', name, '1', 'PX', String(ms)]).catch(() => {});
  },
});

/** Longer than the credits of a day are counted. */
const RECORD_MS = 26 * 3_600_000;

const createRecords = (run: RunShared, keyOf: (name: string) => string): SharedRecords => ({
  async swap(name, expected, next) {
    const reply = await run('explorer', SWAP_RECORD, [keyOf(name)], [expected ?? '', next, RECORD_MS]);
    if (!Array.isArray(reply)) return null;
    const [isSwapped, now, found] = reply.map(String);
    const text = isSwapped === '1' ? next : found || null;
    return { isSwapped: isSwapped === '1', text, now: Number(now) };
  },
});
