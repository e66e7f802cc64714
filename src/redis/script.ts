import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RedisArgument, RedisReply } from './client.ts';
import { RedisReplyError } from './errors.ts';

/** A Lua script. Redis executes it as one: nothing of others comes between its commands. */
export type RedisScript = { readonly source: string; readonly sha: string };

/** Reads the script from its files, one after another. Throws when one is missing. */
export const readScript = (...files: readonly URL[]): RedisScript => {
  const source = files.map((file) => readFileSync(file, 'utf8')).join('');
  return { source, sha: hash('sha1', source) };
};

/**
 * Runs a script by its hash, and sends its source where Redis does not know it yet. `send` sends the command. All keys that
 * the script uses must have one hash tag.
 */
export const runScript = async <Reply = RedisReply>(
  send: (args: readonly RedisArgument[]) => Promise<Reply>,
  { source, sha }: RedisScript,
  keys: readonly string[],
  args: readonly RedisArgument[],
): Promise<Reply> => {
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await send(['EVALSHA', sha, ...rest]);
  } catch (error) {
    if (!(error instanceof RedisReplyError) || error.code !== 'NOSCRIPT') throw error;
    return send(['EVAL', source, ...rest]);
  }
};
