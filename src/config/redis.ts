import { z } from 'zod';
import { parseSentinelUrl } from '../redis/sentinel-url.ts';
import type { Environment, Read } from './environment.ts';
import { commaList, integerIn } from './environment.ts';

/** The Redis that several gateways share. */
export type RedisConfig = {
  /** With user and password. Several URLs are nodes of one Cluster; a single one may name Sentinels. */
  readonly urls: readonly string[];
  /** Where pages are shared: the same as `urls` unless it is another Redis. */
  readonly cacheUrls: readonly string[];
  /** `strict` refuses a Redis that may lose what it has acknowledged. */
  readonly durability: 'strict' | 'relaxed';
  /** How many replicas must have a delivery before it is acknowledged. */
  readonly minReplicas: number;
};

const DURABILITIES = ['strict', 'relaxed'] as const;
const MAX_REPLICAS = 100;
const EXPECTED_URLS =
  'redis:// or rediss:// URLs, comma-separated, with one user, password and scheme, and without query; a Cluster has no database; or redis+sentinel://host:port,host:port/name of Sentinels';

/** Reads REDIS_URL and what belongs to it. */
export const readRedis = (env: Environment, read: Read, problems: string[]): RedisConfig | null => {
  const urls = read('REDIS_URL', redisUrls, EXPECTED_URLS, true);
  const cacheUrls = read('REDIS_CACHE_URL', redisUrls, EXPECTED_URLS, true);
  const durability = read('REDIS_DURABILITY', z.enum(DURABILITIES), `one of ${DURABILITIES.join(', ')}`);
  const minReplicas = read(
    'REDIS_MIN_REPLICAS',
    integerIn(0, MAX_REPLICAS),
    `an integer from 0 to ${MAX_REPLICAS}`,
  );
  if (minReplicas !== null && minReplicas > 0 && !env.REDIS_URL)
    problems.push('REDIS_MIN_REPLICAS: expected REDIS_URL beside it, got none');
  if (cacheUrls !== null && !env.REDIS_URL)
    problems.push('REDIS_CACHE_URL: expected REDIS_URL beside it, got none');
  return (
    urls && {
      urls,
      cacheUrls: cacheUrls ?? urls,
      durability: durability ?? 'strict',
      minReplicas: minReplicas ?? 0,
    }
  );
};

/** Nodes of a Cluster have one user and password, since the Cluster names further nodes without them. */
const nodeUrls = commaList
  .pipe(z.array(z.url({ protocol: /^rediss?$/ })))
  // The other checks need valid URLs.
  .pipe(z.array(z.string()))
  .refine((urls) => urls.every((text) => isRedisUrl(new URL(text))))
  .refine((urls) => urls.length === 1 || urls.every((text) => new URL(text).pathname.length < 2))
  .refine((urls) => new Set(urls.map((text) => accessOf(new URL(text)))).size === 1);

const sentinelUrl = z
  .string()
  .refine((text) => parseSentinelUrl(text) !== null)
  .transform((text) => [text]);

const redisUrls = z.union([sentinelUrl, nodeUrls]);

const isRedisUrl = ({ hostname, pathname, search, hash }: URL): boolean =>
  hostname !== '' && !search && !hash && /^\/?\d{0,3}$/.test(pathname);

const accessOf = ({ protocol, username, password }: URL): string => `${protocol}${username}:${password}`;
