import type { RedisReply } from '../../redis/client.ts';
import type { RedisConnection } from '../../redis/connection.ts';
import { RedisReplyError, RedisUnavailableError } from '../../redis/errors.ts';
import { type RedisScript, runScript } from '../../redis/script.ts';
import { LogUnavailableError } from '../log/errors.ts';

type ScriptItem = number | Buffer | null;

/** What a script returns. */
export type ScriptReply = readonly ScriptItem[];

/** Is called once for what was damaged in a tenant's log and is mended, or is read in another way. */
export type OnMended = (tenant: string, problem: string) => void;

/** None for an item that is missing or not bytes. */
export const bytesIn = (item: ScriptItem | undefined): Buffer =>
  Buffer.isBuffer(item) ? item : Buffer.alloc(0);

type Replication = {
  /** How many replicas must have a delivery before it counts as stored. */
  readonly minReplicas: number;
  /** How long an append waits for them, in milliseconds. */
  readonly waitMs: number;
};

type Parts = Replication & {
  readonly redis: RedisConnection;
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
    keys: readonly [string, string],
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
    keys: readonly [string, string],
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

  /** The bytes under a key; null when there are none. */
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
