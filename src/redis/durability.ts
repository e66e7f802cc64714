import type { RedisReply } from './client.ts';
import { RedisReplyError } from './client.ts';
import type { RedisConnection } from './connection.ts';

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

const MIN_VERSION = 7;

/** The oldest version among the Redis that hold keys when it is too old for the gateway; null otherwise, or if they hide it. */
export const oldVersion = async (redis: RedisConnection): Promise<string | null> => {
  try {
    const replies = await redis.sendToPrimaries(['INFO', 'server']);
    const versions = replies.flatMap((reply) => /^redis_version:(\S+)/m.exec(String(reply))?.[1] ?? []);
    return versions.find((version) => Number.parseInt(version, 10) < MIN_VERSION) ?? null;
  } catch (error) {
    if (error instanceof RedisReplyError) return null;
    throw error;
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
