import type { RedisArgument, RedisReply } from '../redis/client.ts';
import type { RedisConnection } from '../redis/connection.ts';
import { RedisReplyError } from '../redis/errors.ts';
import { type RedisScript, runScript } from '../redis/script.ts';
import type { SharedObserver, SharedTask } from './observer.ts';

/** Runs a script on the keys. Resolves with undefined where Redis fails: a gateway then goes on by itself. */
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
      observer.ran(task, performance.now() - startedAt, false);
      return reply;
    } catch (error) {
      observer.ran(task, performance.now() - startedAt, true);
      if (error instanceof RedisReplyError) observer.refused(error.message);
      return undefined;
    }
  };
