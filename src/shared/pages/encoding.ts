import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';

/** How a body is stored, with its size: `raw` or `zstd:156093`. */
export type EncodedBody = { readonly encoding: string; readonly bytes: Buffer };

/** Smaller bodies are stored as they are. */
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

/** Returns null for what is no such body. */
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
