import { LRUCache } from 'lru-cache';
import type { PageRequest } from '../../upstream/cache/page-request.ts';
import { createHashName } from '../hash-names.ts';

/** The Redis keys of one page. Those of one address have one hash tag, so a Cluster keeps them on one node. */
export type PageNames = {
  /** What tells the gateways that wait for the page which one it is. */
  readonly page: string;
  /** Of the generation that all pages of the address have, of the page, of its lease, and of the channels that wait. */
  readonly keys: readonly [generation: string, page: string, lease: string, waiting: string];
};

/** Names what gateways share. Equal names have equal secrets, base URLs and keys of upstream, and show none of them. */
export type Names = {
  generationOf(cachePartition: string, address: string): string;
  pageOf(request: Pick<PageRequest, 'cachePartition' | 'address' | 'list' | 'offset'>): PageNames;
  /** The channel of invalidations. */
  readonly invalidations: string;
};

/** Changes when gateways before it could not read what is stored. */
const FORMAT = 2;

/** Deliveries concern the same addresses again and again, and an HMAC takes ten microseconds. */
const REMEMBERED_ADDRESSES = 10_000;

export const createNames = (secret: string, upstreamUrl: string, gatewayKey: string | null): Names => {
  const hashName = createHashName(secret);
  const hashOf = (...parts: readonly (string | null)[]): string =>
    hashName('page', upstreamUrl, gatewayKey, ...parts);
  const prefixes = new LRUCache<string, string>({ max: REMEMBERED_ADDRESSES });
  const prefixOf = (cachePartition: string, address: string): string => {
    const key = `${cachePartition} ${address}`;
    const known = prefixes.get(key);
    if (known !== undefined) return known;
    const prefix = `gateway:cache:${FORMAT}:{${hashOf('address', cachePartition, address)}}:`;
    prefixes.set(key, prefix);
    return prefix;
  };
  return {
    invalidations: `gateway:cache:${FORMAT}:invalidated:${hashOf('invalidated')}`,
    generationOf: (cachePartition, address) => `${prefixOf(cachePartition, address)}generation`,
    pageOf({ cachePartition, address, list, offset }) {
      const prefix = prefixOf(cachePartition, address);
      const page = hashOf('page', list, offset);
      const keys = ['generation', `page:${page}`, `lease:${page}`, `waiting:${page}`] as const;
      return {
        page,
        keys: [prefix + keys[0], prefix + keys[1], prefix + keys[2], prefix + keys[3]],
      };
    },
  };
};
