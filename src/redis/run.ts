import {
  type RedisArgument,
  type RedisReply,
  RedisReplyError,
  type RedisScript,
  type RedisTimes,
  runScript,
} from './client.ts';
import type { RedisConnection } from './connection.ts';

/** Runs a script on the keys. Resolves with undefined if Redis fails: the gateway then goes on without it. */
export type RunShared = (
  task: SharedTask,
  script: RedisScript,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
) => Promise<RedisReply | undefined>;

export const createRunShared =
  (redis: RedisConnection, observer: SharedObserver): RunShared =>
  async (task, script, keys, args) => {
    const startedAt = performance.now();
    const [key = null] = keys;
    const send = (command: readonly RedisArgument[]) => redis.send(key, command);
    try {
      const texts = args.map((arg) => (typeof arg === 'number' ? String(arg) : arg));
      const reply = await runScript(send, script, keys, texts);
      observer.ran?.(task, performance.now() - startedAt, false);
      return reply;
    } catch (error) {
      observer.ran?.(task, performance.now() - startedAt, true);
      if (error instanceof RedisReplyError) observer.refused?.(error.message);
      return undefined;
    }
  };

export type SharedTimes = RedisTimes & {
  /**
   * How long other gateways wait for the page of a gateway that has crashed. One that does not get to renew its lease in this
   * time is taken for crashed: another gateway then requests the page as well.
   */
  readonly leaseMs: number;
};

/**
 * A lookup waits for `commandMs` for a slow Redis, once. After that the gateway goes on without it until it answers again.
 */
export const SHARED_TIMES: SharedTimes = {
  commandMs: 500,
  connectMs: 5000,
  silentMs: 3000,
  pingMs: 1000,
  leaseMs: 2000,
};

/** What gateways ask of the Redis that they share. */
type SharedTask = 'find' | 'store' | 'renew' | 'invalidate' | 'budget' | 'rate' | 'cooldown' | 'explorer';

/** Reports what is shared over Redis to the metrics. */
export type SharedObserver = {
  /**
   * The result of looking for a page: Redis had it (`hit`), another gateway was fetching it (`waited`), neither (`lease`),
   * or Redis did not answer (`unavailable`).
   */
  found?(how: 'hit' | 'waited' | 'lease' | 'unavailable'): void;
  /** A script has run, or failed. The time is in milliseconds. */
  ran?(task: SharedTask, durationMs: number, failed: boolean): void;
  /** Redis refused a script with this reply, because its memory is full or the user may not run it. */
  refused?(reply: string): void;
};
