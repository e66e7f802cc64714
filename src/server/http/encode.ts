import type { Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import type { ContentCoding } from './content-coding.ts';

/** A body of up to so many bytes is small: to compress it at once costs less than to have a thread do it. */
export const MAX_SMALL_BYTES = 16 * 1024;

/** What a thread compresses without a pause: a few milliseconds. */
const SLICE_BYTES = 256 * 1024;

/** How much of a compressed body an encoder returns at a time. */
const CHUNK_BYTES = 64 * 1024;
const SMALL_CHUNK_BYTES = 8 * 1024;

const {
  BROTLI_MODE_TEXT,
  BROTLI_PARAM_MODE,
  BROTLI_PARAM_QUALITY,
  BROTLI_PARAM_SIZE_HINT,
  ZSTD_c_compressionLevel,
  ZSTD_c_hashLog,
  ZSTD_c_windowLog,
} = zlib.constants;

const brotli = (bytes: number, chunkSize: number): zlib.BrotliOptions => ({
  chunkSize,
  params: {
    [BROTLI_PARAM_QUALITY]: 1,
    [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT,
    [BROTLI_PARAM_SIZE_HINT]: bytes,
  },
});

/**
 * Compresses a small body. The windows are no larger than a small body: the memory of others would be taken from the
 * operating system each time, and given back.
 */
export const encodeSmall = (body: Buffer, coding: ContentCoding): Buffer => {
  const chunkSize = SMALL_CHUNK_BYTES;
  if (coding === 'br') return zlib.brotliCompressSync(body, brotli(body.length, chunkSize));
  if (coding === 'gzip') return zlib.gzipSync(body, { chunkSize, level: 1, windowBits: 14, memLevel: 7 });
  const params = { [ZSTD_c_compressionLevel]: 1, [ZSTD_c_windowLog]: 14, [ZSTD_c_hashLog]: 12 };
  return zlib.zstdCompressSync(body, { chunkSize, pledgedSrcSize: body.length, params });
};

/** Creates a stream that compresses a body of so many bytes in threads. */
const createEncoder = (coding: ContentCoding, bytes: number): Transform => {
  const chunkSize = CHUNK_BYTES;
  if (coding === 'br') return zlib.createBrotliCompress(brotli(bytes, chunkSize));
  if (coding === 'gzip') return zlib.createGzip({ chunkSize, level: 1 });
  const params = { [ZSTD_c_compressionLevel]: 1 };
  return zlib.createZstdCompress({ chunkSize, pledgedSrcSize: bytes, params });
};

/**
 * Compresses the parts of a body in threads. Resolves with null once `isUnwanted` returns true. No thread reads the parts
 * after it has resolved.
 */
export const encode = async (
  parts: readonly Buffer[],
  bytes: number,
  coding: ContentCoding,
  isUnwanted: () => boolean,
): Promise<readonly Buffer[] | null> => {
  const encoder = createEncoder(coding, bytes);
  const encoded: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => encoded.push(chunk));
  const ended = finished(encoder);
  // A failure is reported once, by the promise that is awaited below.
  ended.catch(() => {});
  for (const slice of slicesOf(parts)) {
    if (isUnwanted()) {
      encoder.destroy();
      return null;
    }
    await new Promise<void>((resolve, reject) =>
      encoder.write(slice, (error) => (error ? reject(error) : resolve())),
    );
  }
  encoder.end();
  await ended;
  return encoded;
};

function* slicesOf(parts: readonly Buffer[]): Generator<Buffer> {
  for (const part of parts)
    for (let from = 0; from < part.length; from += SLICE_BYTES) yield part.subarray(from, from + SLICE_BYTES);
}
