/** Ways to hold pages that the paging laws must survive: a cache may hide an error, or be one. */

export const withoutCache = {
  name: 'without a cache',
  env: { CACHE_HEAD_MS: '0', CACHE_TAIL_MS: '0', CACHE_STALE_MS: '0' },
};

const withCache = { name: 'with a cache', env: { CACHE_HEAD_MS: '60000', CACHE_TAIL_MS: '60000' } };

/** The newest page is asked for anew while older ones are still held: pages of different ages meet. */
const withOlderPages = {
  name: 'with a cache of older pages only',
  env: { CACHE_HEAD_MS: '0', CACHE_TAIL_MS: '60000' },
};

export const caches = [withoutCache, withCache, withOlderPages];
