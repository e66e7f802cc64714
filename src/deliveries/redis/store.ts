import {
  type RedisReply,
  RedisReplyError,
  type RedisScript,
  RedisUnavailableError,
  readScript,
  runScript,
} from '../../redis/client.ts';
import type { RedisConnection } from '../../redis/connection.ts';
import { LogUnavailableError } from '../log/errors.ts';
import { LAYOUT } from './layout.ts';

type ScriptItem = number | Buffer | null;

/** What a script returns. */
export type ScriptReply = readonly ScriptItem[];

/** Is called once for what was damaged in a tenant's log and is mended, or is read in another way. */
export type OnMended = (tenant: string, problem: string) => void;

/** None for an item that is missing or not bytes. */
export const bytesIn = (item: ScriptItem | undefined): Buffer =>
  Buffer.isBuffer(item) ? item : Buffer.alloc(0);

type Parts = {
  readonly redis: RedisConnection;
  /** How many replicas must have a delivery before it counts as stored. */
  readonly minReplicas: number;
  /** How long an append waits for them, in milliseconds. */
  readonly waitMs: number;
  /** For appends that wait for replicas: what is sent over the same connection meanwhile waits, too. */
  readonly writer: RedisConnection;
  readonly onMended?: OnMended | undefined;
};

/** The commands of the log. Each rejects with LogUnavailableError when Redis fails or refuses it. */
export class Store {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Runs a script on one tenant's keys. */
  run(
    script: RedisScript,
    keys: readonly [string, ...string[]],
    args: readonly (string | Buffer)[],
  ): Promise<ScriptReply> {
    return available(async () => {
      const send = (command: readonly (string | Buffer)[]) => this.#parts.redis.send(keys[0], command);
      return listIn(await runScript(send, script, keys, args));
    });
  }

  /**
   * Runs a script that writes. Rejects with LogUnavailableError, too, when fewer replicas than wanted have it in time: then
   * it is stored, and its sender has to repeat it.
   */
  write(
    script: RedisScript,
    keys: readonly [string, ...string[]],
    args: readonly (string | Buffer)[],
  ): Promise<ScriptReply> {
    const { minReplicas, waitMs, writer } = this.#parts;
    if (minReplicas === 0) return this.run(script, keys, args);
    return available(async () => {
      const send = (command: readonly (string | Buffer)[]) =>
        writer.sendReplicated(keys[0], command, minReplicas, waitMs);
      const { reply, replicas } = await runScript(send, script, keys, args);
      if (replicas < minReplicas)
        throw new LogUnavailableError(
          `expected ${minReplicas} replicas of Redis to have a delivery within ${waitMs} ms, got ${replicas}`,
        );
      return listIn(reply);
    });
  }

  send(key: string, ...command: readonly (string | Buffer)[]): Promise<RedisReply> {
    return available(() => this.#parts.redis.send(key, command));
  }

  /** Reports what is mended in a tenant's log, such as a script says; nothing where that is empty. */
  reportMended(tenant: string, what: ScriptItem | string | undefined): void {
    const problem = String(what ?? '');
    if (problem !== '') this.#parts.onMended?.(tenant, problem);
  }

  /** Sends a command, and sends it again without the key when that has another type. */
  async sendReplacing(key: string, ...command: readonly (string | Buffer)[]): Promise<RedisReply> {
    try {
      return await this.send(key, ...command);
    } catch (error) {
      if (!isWrongType(error)) throw error;
      await this.send(key, 'UNLINK', key);
      return this.send(key, ...command);
    }
  }

  /** The bytes under a key; null if there are none. */
  async get(key: string): Promise<Buffer | null> {
    const reply = await this.send(key, 'GET', key);
    return Buffer.isBuffer(reply) ? reply : null;
  }
}

/** Whether Redis has refused a command, which says nothing about the next one. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof LogUnavailableError && error.cause instanceof RedisReplyError;

const isWrongType = (error: unknown): boolean =>
  error instanceof LogUnavailableError &&
  error.cause instanceof RedisReplyError &&
  error.cause.code === 'WRONGTYPE';

const listIn = (reply: RedisReply): ScriptReply => (Array.isArray(reply) ? reply : []);

const available = async <Value>(task: () => Promise<Value>): Promise<Value> => {
  try {
    return await task();
  } catch (error) {
    if (error instanceof RedisReplyError && error.code === 'OOM')
      throw new LogUnavailableError('the memory of Redis is full (maxmemory)', error);
    if (error instanceof RedisReplyError || error instanceof RedisUnavailableError)
      throw new LogUnavailableError(error.message, error);
    throw error;
  }
};

/**
 * The keys of the log. Those of one tenant have one hash tag, so a Cluster keeps them on one node, and spreads tenants.
 *
 *     gateway:{tenant}:stream            entry n-0 is delivery n: see entry.ts
 *     gateway:{tenant}:state             head, floor, epoch; the marks of the newest and of the last trimmed delivery; the
 *                                        last delivery that replicas are known to have
 *     gateway:{tenant}:identity:bucket   the sequence of each identity
 *     gateway:{tenant}:index:segment:n   postings; `marks` in place of n: see layout.ts
 */
export const tenantKeys = (tenant: string) => {
  // A brace in a tenant would end its hash tag.
  const prefix = `gateway:{${encodeURIComponent(tenant)}}:`;
  return { prefix, entries: [`${prefix}stream`, `${prefix}state`] as const };
};

/** What readiness stores and drops: the keys of a log that no tenant can have, since theirs begin with the hash tag. */
export const CHECK_KEYS = {
  prefix: 'gateway:check:{check}:',
  entries: ['gateway:check:{check}:stream', 'gateway:check:{check}:state'],
} as const;
/** No gateway listens there. */
export const CHECK_CHANNEL = 'gateway:checked';

/** The channel to which `head tenant` is published when a tenant has more to read. */
export const CHANNEL = 'gateway:appended';
/** The channel for the same while replicas do not have it yet. */
export const APPENDING_CHANNEL = 'gateway:appending';
/** What a message of these two channels says. */
export const growthIn = (message: string): { readonly head: number; readonly tenant: string } => {
  const space = message.indexOf(' ');
  return { head: Number(message.slice(0, space)), tenant: message.slice(space + 1) };
};
/** 32 random bytes that tell this log from any other, and its fence where it has one. */
export const SEED = 'gateway:seed';
/** The secret of delivery URLs, where no setting has one. */
export const SECRET = 'gateway:secret';
/** The secret that names and cursors are made with, whichever secret signs delivery URLs. */
export const IDENTITY = 'gateway:identity';
/** The channel on which a gateway that starts asks for a secret that Redis lacks. */
export const wantedChannelOf = (key: string): string => `${key}-wanted`;
/** What the gateways that share this log must agree on. */
export const SETTINGS = 'gateway:settings';
/** The number of the format of all these keys. */
export const FORMAT = 'gateway:format';
/** The last time that a gateway believed the clock of Redis, in milliseconds. */
export const TIME = 'gateway:time';
/** A jump of that clock which is not confirmed yet: the expected time, the clock, and for how long it has gone on evenly. */
export const TIME_JUMP = 'gateway:time-jump';
/** Is there while a gateway counts the deliveries of all tenants, and for a while after. */
export const TOTAL = 'gateway:total';
/** All tenants, each with a time before which none of its deliveries was stored; 0 where that is not known. */
export const TENANTS = 'gateway:tenants';

const fileOf = (name: string) => new URL(`./lua/${name}.lua`, import.meta.url);
const read = (name: string) => readScript([fileOf('state'), fileOf(name)], LAYOUT);

/** The scripts that work on one tenant's log. Each file says what it takes and returns; layout and `state.lua` are the beginning of all. */
export const APPEND = read('append');
export const READ = read('read');
export const LOAD = read('load');
export const TRIM = read('trim');
export const REACH = read('reach');
export const HOLD = read('hold');
export const BEGIN = read('begin');
export const ENTRIES = read('entries');
/** Replaces the value of any key if it is still what was read. */
export const REPLACE = readScript([fileOf('replace')]);
