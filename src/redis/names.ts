import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../lib/memo.ts';
import type { PageRequest } from '../upstream/page.ts';

/** The Redis keys of one page. Those of one address have one hash tag, so a Cluster keeps them on one node. */
export type PageNames = {
  /** Identifies the page to the gateways that wait for it. */
  readonly page: string;
  /**
   * The keys of the address's generation, of the page, of its lease, of the channels that wait, and of a newer page with
   * failures.
   */
  readonly keys: readonly [generation: string, page: string, lease: string, waiting: string, failed: string];
};

/** Names what gateways share. Equal names mean equal secrets, base URLs and upstream keys, but reveal none of them. */
export type Names = {
  generationOf(cachePartition: string, address: string): string;
  pageOf(request: Pick<PageRequest, 'cachePartition' | 'address' | 'list' | 'offset'>): PageNames;
  /** The channel of invalidations. */
  readonly invalidations: string;
};

/** Changes when older gateways could not read what is stored. */
const FORMAT = 3;

/** Deliveries concern the same addresses again and again, and an HMAC takes ten microseconds. */
const REMEMBERED_ADDRESSES = 10_000;

export const createNames = (secret: string, upstreamUrl: string, gatewayKey: string | null): Names => {
  const hashName = createHashName(secret);
  const hashOf = (...parts: readonly (string | null)[]): string =>
    hashName('page', upstreamUrl, gatewayKey, ...parts);
  const prefixes = new LRUCache<string, string>(atMostEntries(REMEMBERED_ADDRESSES));
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
      const named = (name: string) => `${prefix}${name}:${page}`;
      return {
        page,
        keys: [`${prefix}generation`, named('page'), named('lease'), named('waiting'), named('failed')],
      };
    },
  };
};

/** Makes names for what gateways share, which reveal nothing about it. Gateways with another secret have other names. */
export type HashName = (...parts: readonly (string | null)[]) => string;

const CHARACTERS = 22;

export const createHashName =
  (secret: string): HashName =>
  (...parts) =>
    createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url').slice(0, CHARACTERS);

/** How a body is stored, with its size: `raw` or `zstd:156093`. */
export type EncodedBody = { readonly encoding: string; readonly bytes: Buffer };

/** Smaller bodies are stored uncompressed. */
const MIN_COMPRESSED_BYTES = 4096;
/** Larger ones are not shared: Redis would be busy with them for milliseconds. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Level 1 makes pages a third to a tenth of their size, in half of the default's time. */
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** The smallest chunk that zlib takes. */
const MIN_CHUNK_BYTES = 64;

const compress = promisify(zstdCompress);

/** Compresses a body outside of the event loop. Resolves with null for one that is too large to be shared. */
export const encodeBody = async (chunks: readonly Buffer[]): Promise<EncodedBody | null> => {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  if (size > MAX_BODY_BYTES) return null;
  const [first] = chunks;
  const body = chunks.length === 1 && first ? first : Buffer.concat(chunks, size);
  if (size < MIN_COMPRESSED_BYTES) return { encoding: 'raw', bytes: body };
  return { encoding: `zstd:${size}`, bytes: await compress(body, { ...FASTEST, pledgedSrcSize: size }) };
};

/** Returns null for anything else. */
export const decodeBody = ({ encoding, bytes }: EncodedBody): Buffer | null => {
  if (encoding === 'raw') return bytes;
  const size = Number(/^zstd:(\d{1,8})$/.exec(encoding)?.[1] ?? 0);
  if (size === 0 || size > MAX_BODY_BYTES) return null;
  try {
    // The output fits into one chunk, so it is not copied again.
    return zstdDecompressSync(bytes, { chunkSize: size + MIN_CHUNK_BYTES, maxOutputLength: size });
  } catch {
    return null;
  }
};
