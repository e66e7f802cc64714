import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { RedisReplyError, RedisUnavailableError } from '../../redis/client.ts';
import type { RedisConnection } from '../../redis/connection.ts';
import { IDENTITY, SECRET, SETTINGS, wantedChannelOf } from './store.ts';

/** Gateways that listen for it put the secret back within a round trip. */
const WAIT_MS = 2000;
const WAIT_STEP_MS = 20;

/** A Redis that is emptied drops no connection, so nothing tells of it. */
const CHECK_EVERY_MS = 5000;

export type SecretObserver = {
  /** Redis has another secret than this gateway. */
  differs(error: Error): void;
  /** It has the same one again. */
  agrees(): void;
};

/**
 * A secret that all gateways on one Redis have, at a key. The first gateway makes it. Redis keeps it, and so does each gateway, which puts it back when Redis has lost it: after a lost connection is open again, when a
 * gateway that starts asks for it, and every 5 seconds.
 */
export class SharedSecret {
  readonly value: string;
  readonly #key: string;
  readonly #redis: RedisConnection;
  readonly #observer: SecretObserver;
  readonly #timer: NodeJS.Timeout;
  #difference: Error | null = null;

  private constructor(redis: RedisConnection, key: string, value: string, observer: SecretObserver) {
    this.#redis = redis;
    this.#key = key;
    this.value = value;
    this.#observer = observer;
    const putBack = () => void this.#putBack();
    redis.onReopened(putBack);
    this.#timer = setInterval(putBack, CHECK_EVERY_MS).unref();
  }

  /** `initial` is the secret where no gateway has one yet. Rejects with an error of Redis. */
  static async open(
    redis: RedisConnection,
    key: string,
    initial: string,
    observer: SecretObserver,
  ): Promise<SharedSecret> {
    const known = (await findSecret(redis, key)) ?? (await putSecret(redis, key, initial));
    return SharedSecret.#keep(redis, key, known ?? initial, observer);
  }

  /** As `open`, but makes none: null where no gateway has one. */
  static async find(
    redis: RedisConnection,
    key: string,
    observer: SecretObserver,
  ): Promise<SharedSecret | null> {
    const known = await findSecret(redis, key);
    return known === null ? null : SharedSecret.#keep(redis, key, known, observer);
  }

  static async #keep(
    redis: RedisConnection,
    key: string,
    value: string,
    observer: SecretObserver,
  ): Promise<SharedSecret> {
    const secret = new SharedSecret(redis, key, value, observer);
    await redis.subscribe(wantedChannelOf(key), () => void secret.#putBack());
    return secret;
  }

  /** Rejects while Redis has another secret. */
  async check(): Promise<void> {
    await this.#putBack();
    if (this.#difference !== null) throw this.#difference;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #putBack(): Promise<void> {
    try {
      const known = await putSecret(this.#redis, this.#key, this.value);
      this.#compare(known === null || known === this.value ? null : 'another one');
    } catch (error) {
      if (error instanceof RedisReplyError && error.code === 'WRONGTYPE') this.#compare('no text');
      // Whatever else Redis refuses says nothing about the secret.
      else if (!(error instanceof RedisReplyError || error instanceof RedisUnavailableError)) throw error;
    }
  }

  #compare(found: string | null): void {
    const before = this.#difference;
    this.#difference =
      found === null
        ? null
        : (before ?? new Error(`expected the secret of this gateway at ${this.#key}, found ${found}`));
    if (before === null && this.#difference !== null) this.#observer.differs(this.#difference);
    if (before !== null && this.#difference === null) this.#observer.agrees();
  }
}

/** Asks the gateways that are running for a secret that Redis lacks; null when no gateway has one. */
const findSecret = async (redis: RedisConnection, key: string): Promise<string | null> => {
  const read = async () => {
    const reply = await redis.send(key, ['GET', key]);
    return reply === null ? null : String(reply);
  };
  const known = await read();
  if (known !== null) return known;
  const listeners = await redis.send(key, ['PUBLISH', wantedChannelOf(key), '']);
  // A node of a Cluster counts its own listeners alone.
  if (listeners === 0 && !redis.isCluster) return null;
  for (const end = performance.now() + WAIT_MS; performance.now() < end; ) {
    await delay(WAIT_STEP_MS);
    const found = await read();
    if (found !== null) return found;
  }
  return null;
};

/** Stores the secret unless Redis has one, which it then returns. */
const putSecret = async (redis: RedisConnection, key: string, secret: string): Promise<string | null> => {
  const known = await redis.send(key, ['SET', key, secret, 'NX', 'GET']);
  return known === null ? null : String(known);
};

type KeptSecrets = { readonly secret: string | null; readonly identity: string | null };

/** Reads what Redis keeps. Rejects with an error of Redis. */
export const readKeptSecrets = async (redis: RedisConnection): Promise<KeptSecrets> => {
  const read = async (key: string): Promise<string | null> => {
    const reply = await redis.send(key, ['GET', key]);
    return reply === null ? null : String(reply);
  };
  return { secret: await read(SECRET), identity: await read(IDENTITY) };
};

/** Keeps secrets where Redis has none. Rejects with an error of Redis. */
export const keepSecrets = async (
  redis: RedisConnection,
  { secret, identity }: KeptSecrets,
): Promise<void> => {
  if (secret !== null) await putSecret(redis, SECRET, secret);
  if (identity !== null) await putSecret(redis, IDENTITY, identity);
};

/** What all gateways on one Redis must agree on. */
export type SharedSettings = {
  /** The one that signs delivery URLs. */
  readonly secret: string;
  readonly retentionHours: number;
  readonly retentionCount: number;
  readonly retentionTotal: number | null;
};

/**
 * Records the settings, and returns those that differ from what the gateway recorded that was started last: each by its
 * variable, with both values unless it is the secret.
 */
export const shareSettings = async (
  redis: RedisConnection,
  { secret, retentionHours, retentionCount, retentionTotal }: SharedSettings,
): Promise<string[]> => {
  const own = {
    DELIVERY_RETENTION_HOURS: String(retentionHours),
    DELIVERY_RETENTION_COUNT: String(retentionCount),
    DELIVERY_RETENTION_TOTAL: retentionTotal === null ? 'none' : String(retentionTotal),
    DELIVERY_SECRET: hash('sha256', `settings:${secret}`).slice(0, 16),
  };
  const names = Object.keys(own);
  const reply = await redis.send(SETTINGS, ['HMGET', SETTINGS, ...names]);
  const recorded = Array.isArray(reply) ? reply : [];
  await redis.send(SETTINGS, ['HSET', SETTINGS, ...Object.entries(own).flat()]);
  return Object.entries(own).flatMap(([name, value], index) => {
    const other = recorded[index];
    if (other === null || other === undefined || String(other) === value) return [];
    return [name === 'DELIVERY_SECRET' ? name : `${name}: ${value} here, ${String(other)} there`];
  });
};
