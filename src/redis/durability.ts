import type { RedisReply } from './client.ts';
import type { RedisConnection } from './connection.ts';
import { RedisReplyError } from './errors.ts';

/** What a Redis needs so that it never loses what it has acknowledged, not even by a crash of its machine. */
const REQUIRED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
};

export type Durability = {
  /** Each setting that may lose what was acknowledged, with what was expected and what was found. */
  readonly problems: readonly string[];
  /** Why the settings can't be read, as is usual where Redis is a managed service; null when they were. */
  readonly unreadable: string | null;
};

/** Reads how safely Redis keeps what it acknowledges: of a Cluster, every primary. */
export const checkDurability = async (redis: RedisConnection): Promise<Durability> => {
  try {
    const replies = await redis.sendToPrimaries(['CONFIG', 'GET', ...Object.keys(REQUIRED)]);
    const problems = replies.flatMap((reply) => problemsOf(settingsIn(reply)));
    return { problems: [...new Set(problems)], unreadable: null };
  } catch (error) {
    if (!(error instanceof RedisReplyError)) throw error;
    return { problems: [], unreadable: error.message };
  }
};

/** Names and values alternate. */
const settingsIn = (reply: RedisReply): ReadonlyMap<string, string> => {
  const texts = Array.isArray(reply) ? reply.map(String) : [];
  return new Map(texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : [])));
};

const problemsOf = (settings: ReadonlyMap<string, string>): string[] =>
  Object.entries(REQUIRED).flatMap(([name, expected]) => {
    const found = settings.get(name);
    return found === expected ? [] : [`expected ${name} ${expected}, got ${found ?? 'none'}`];
  });
