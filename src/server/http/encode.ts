import type { Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import type { ContentCoding } from './content-coding.ts';

/** What is compressed without a pause: a few milliseconds of a thread. */
const SLICE_BYTES = 256 * 1024;

const MIN_CHUNK_BYTES = 1024;
const MAX_CHUNK_BYTES = 64 * 1024;

/** A coding at the level that pays: see docs/performance.md. */
type Encoder = {
  /** Compresses a small body at once, which costs less than to have a thread do it. */
  encodeSmall(body: Buffer): Buffer;
  /** Creates a stream that compresses a body of so many bytes in threads. */
  createStream(bytes: number): Transform;
};

const encoderWith = <Options extends { chunkSize?: number | undefined }>(
  optionsFor: (bytes: number) => Options,
  encodeSync: (body: Buffer, options: Options) => Buffer,
  createStream: (options: Options) => Transform,
): Encoder => {
  const optionsOf = (bytes: number): Options => ({
    ...optionsFor(bytes),
    chunkSize: Math.min(Math.max(MIN_CHUNK_BYTES, bytes >> 2), MAX_CHUNK_BYTES),
  });
  return {
    encodeSmall: (body) => encodeSync(body, optionsOf(body.length)),
    createStream: (bytes) => createStream(optionsOf(bytes)),
  };
};

export const ENCODERS: Readonly<Record<ContentCoding, Encoder>> = {
  zstd: encoderWith(
    (bytes): zlib.ZstdOptions => ({
      pledgedSrcSize: bytes,
      params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 },
    }),
    zlib.zstdCompressSync,
    zlib.createZstdCompress,
  ),
  br: encoderWith(
    (bytes): zlib.BrotliOptions => ({
      params: {
        [zlib.constants.BROTLI_PARAM_QUALITY]: 1,
        [zlib.constants.BROTLI_PARAM_MODE]: zlib.constants.BROTLI_MODE_TEXT,
        [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes,
      },
    }),
    zlib.brotliCompressSync,
    zlib.createBrotliCompress,
  ),
  gzip: encoderWith((): zlib.ZlibOptions => ({ level: 1 }), zlib.gzipSync, zlib.createGzip),
};

/**
 * Compresses the parts of a body in threads. Resolves with null once `isUnwanted` returns true. No thread reads the parts
 * after it has settled, unless it rejects.
 */
export const encode = async (
  parts: readonly Buffer[],
  bytes: number,
  coding: ContentCoding,
  isUnwanted: () => boolean,
): Promise<readonly Buffer[] | null> => {
  const encoder = ENCODERS[coding].createStream(bytes);
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
