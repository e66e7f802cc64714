import { readScript } from '../../redis/script.ts';

const read = (name: string) => readScript(new URL(`./lua/${name}.lua`, import.meta.url));

/** The scripts that work on one address's pages. Each file says what it takes and returns. */
export const FIND = read('find');
export const FIND_STALE = read('find-stale');
export const END_LEASE = read('end-lease');
export const RENEW_LEASE = read('renew-lease');
export const INVALIDATE = read('invalidate');
