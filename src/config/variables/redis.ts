import { z } from 'zod';
import { parseSentinelUrl } from '../../redis/sentinel-url.ts';
import { commaList, integer, oneOf, withoutAccess } from '../kinds.ts';
import { type Kind, onlyWith, variable } from '../variable.ts';

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

const isRedisUrl = ({ hostname, pathname, search, hash }: URL): boolean =>
  hostname !== '' && !search && !hash && /^\/?\d{0,3}$/.test(pathname);

const accessOf = ({ protocol, username, password }: URL): string => `${protocol}${username}:${password}`;

const redisUrls: Kind<readonly string[]> = {
  schema: z.union([sentinelUrl, nodeUrls]),
  expected:
    'redis:// or rediss:// URLs, comma-separated, with one user, password and scheme, and without query; a Cluster has no database; or redis+sentinel://host:port,host:port/name of Sentinels',
  shows: (urls) => urls.map(withoutAccess).join(),
};

const unused = onlyWith('REDIS_URL');

/** What several gateways share. */
export const REDIS = {
  REDIS_URL: variable(
    redisUrls,
    null,
    'Redis 7 or later, or Valkey, for [many gateways](many-machines.md): `redis://` or `rediss://` with user, password, port and database as needed. Several URLs, comma-separated, are nodes of one Cluster. `redis+sentinel://host:26379,host2:26379/name` asks [Sentinels](many-machines.md#sentinel) for the primary.',
    { isCommon: true, isSecret: true, example: 'redis://127.0.0.1:6379' },
  ),
  REDIS_CACHE_URL: variable(
    redisUrls,
    null,
    'Another Redis for [pages](many-machines.md#one-cache), in the same form. A cache needs eviction, and the log must not have it.',
    { isSecret: true, byDefault: 'that of REDIS_URL', unused, example: 'redis://127.0.0.1:6380' },
  ),
  REDIS_DURABILITY: variable(
    oneOf(['strict', 'relaxed']),
    'strict',
    '`strict` refuses a Redis that may lose what it acknowledged, `relaxed` accepts it: see [What each setting survives](many-machines.md#what-each-setting-survives).',
    { unused },
  ),
  REDIS_MIN_REPLICAS: variable(
    integer(0, 100),
    0,
    'How many replicas of Redis must have a delivery before it is acknowledged.',
    { unused },
  ),
};
