import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import Negotiator from 'negotiator';
import { rememberLast } from '../../lib/memo.ts';
import { createMemoryBudget } from '../../lib/memory-budget.ts';
import type { MaybePromise } from '../../lib/tasks.ts';

/** A smaller body fits into one packet as it is. */
const MIN_BYTES = 1024;

/** The memory of the bodies in threads, and of their encoders. A larger body is compressed while there is no other. */
const MAX_BYTES_IN_THREADS = 32 * 1024 * 1024;
/** What an encoder takes beside its body. */
const ENCODER_BYTES = 1024 * 1024;

/** A compressed body. `body` is null when its client has disconnected in the meantime. */
type Compressed = { readonly coding: ContentCoding; readonly body: readonly Buffer[] | null };

/**
 * Compresses the body of a response by its client's Accept-Encoding. Returns null for a body that is sent as it is: its
 * client prefers that, it is small, or too many are being compressed. Nothing reads the body after the promise has resolved.
 */
export type Compress = (
  body: () => readonly Buffer[],
  bytes: number,
  acceptEncoding: string,
  response: ServerResponse,
) => MaybePromise<Compressed> | null;

/** Compresses parts of a response that are made one after another. Each can be read before the next one comes. */
export type PartEncoder = {
  readonly coding: ContentCoding;
  write(bytes: Buffer): void;
  /** Ends a part. */
  flush(): void;
  /** Ends the response with these bytes. */
  end(bytes: Buffer): void;
};

/**
 * Returns what compresses the parts of a response and writes them; null if they are sent as they are. `onWrite` is called
 * after each write.
 */
export type OpenPartEncoder = (
  acceptEncoding: string,
  response: ServerResponse,
  onWrite: () => void,
) => PartEncoder | null;

export const createCompressor = (): {
  readonly compress: Compress;
  readonly openPartEncoder: OpenPartEncoder;
} => {
  const memory = createMemoryBudget(MAX_BYTES_IN_THREADS);
  const compress: Compress = (body, bytes, acceptEncoding, response) => {
    if (bytes < MIN_BYTES) return null;
    const coding = preferredCoding(acceptEncoding);
    if (coding === null) return null;
    if (bytes <= MAX_SMALL_BYTES) return { coding, body: [encodeSmall(Buffer.concat(body()), coding)] };
    const { tryGrow, release } = memory.reserve();
    if (!tryGrow(bytes + ENCODER_BYTES)) return null;
    return encode(body(), bytes, coding, () => response.destroyed)
      .then((encoded) => ({ coding, body: encoded }))
      .finally(release);
  };
  const openPartEncoder: OpenPartEncoder = (acceptEncoding, response, onWrite) => {
    const coding = preferredCoding(acceptEncoding);
    if (coding === null) return null;
    const { tryGrow, grow, shrink, release } = memory.reserve();
    if (!tryGrow(ENCODER_BYTES)) return null;
    const encoder = createEncoder(coding);
    const isOpen = () => !response.destroyed && !response.writableEnded;
    encoder.on('data', (chunk: Buffer) => {
      if (isOpen()) response.write(chunk);
      onWrite();
    });
    encoder.once('end', () => isOpen() && response.end());
    encoder.once('error', () => response.destroy());
    response.once('close', () => {
      encoder.destroy();
      release();
    });
    let unflushed = 0;
    return {
      coding,
      write(bytes) {
        unflushed += bytes.length;
        grow(bytes.length);
        for (const slice of slicesOf([bytes])) encoder.write(slice);
      },
      flush() {
        const flushed = unflushed;
        unflushed = 0;
        encoder.flush(FLUSHES[coding], () => shrink(flushed));
      },
      end: (bytes) => void encoder.end(bytes),
    };
  };
  return { compress, openPartEncoder };
};

/** The content codings of answers. Where a client has no preference, the first one counts: docs/performance.md says why. */
const CODINGS = ['zstd', 'br', 'gzip'] as const;

export type ContentCoding = (typeof CODINGS)[number];

const AVAILABLE = [...CODINGS, 'identity'];

/** Clients send a few dozen characters. To read 16 KB of them would cost more than most answers. */
const MAX_CHARACTERS = 1024;

/** The published types of `negotiator` lack the option. */
type ByPreference = {
  encoding(available: string[], options: { readonly preferred: readonly string[] }): string | undefined;
};

/**
 * Returns the coding that a client prefers by its Accept-Encoding; null for an uncompressed answer. A client that refuses
 * that too still gets it (RFC 9110, 12.5.3), because a refusal would hide what a mutation has done. So does a client whose
 * list is too long.
 */
const preferredCoding = rememberLast((acceptEncoding): ContentCoding | null => {
  if (acceptEncoding.length > MAX_CHARACTERS) return null;
  const negotiator: ByPreference = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  const preferred = negotiator.encoding(AVAILABLE, { preferred: AVAILABLE });
  return CODINGS.find((coding) => coding === preferred) ?? null;
});

/** The maximum size of a small body, which is compressed at once: handing it to a thread would cost more. */
const MAX_SMALL_BYTES = 16 * 1024;

/** What a thread compresses without a pause: a few milliseconds. */
const SLICE_BYTES = 256 * 1024;

/** How much of a compressed body an encoder returns at a time. */
const CHUNK_BYTES = 64 * 1024;
const SMALL_CHUNK_BYTES = 8 * 1024;

const {
  BROTLI_MODE_TEXT,
  BROTLI_OPERATION_FLUSH,
  BROTLI_PARAM_MODE,
  BROTLI_PARAM_QUALITY,
  BROTLI_PARAM_SIZE_HINT,
  ZSTD_c_compressionLevel,
  ZSTD_c_hashLog,
  ZSTD_c_windowLog,
  ZSTD_e_flush,
  Z_SYNC_FLUSH,
} = zlib.constants;

/** How an encoder returns all that it has taken, so that what follows may refer to it. */
const FLUSHES = { zstd: ZSTD_e_flush, br: BROTLI_OPERATION_FLUSH, gzip: Z_SYNC_FLUSH } as const;

/** `bytes` is the size of the body where it is known. */
const brotli = (bytes: number | undefined, chunkSize: number): zlib.BrotliOptions => ({
  chunkSize,
  params: {
    [BROTLI_PARAM_QUALITY]: 1,
    [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT,
    ...(bytes !== undefined && { [BROTLI_PARAM_SIZE_HINT]: bytes }),
  },
});

/**
 * Compresses a small body. The windows are no larger than a small body: the memory of others would be taken from the
 * operating system each time, and given back.
 */
const encodeSmall = (body: Buffer, coding: ContentCoding): Buffer => {
  const chunkSize = SMALL_CHUNK_BYTES;
  if (coding === 'br') return zlib.brotliCompressSync(body, brotli(body.length, chunkSize));
  if (coding === 'gzip') return zlib.gzipSync(body, { chunkSize, level: 1, windowBits: 14, memLevel: 7 });
  const params = { [ZSTD_c_compressionLevel]: 1, [ZSTD_c_windowLog]: 14, [ZSTD_c_hashLog]: 12 };
  return zlib.zstdCompressSync(body, { chunkSize, pledgedSrcSize: body.length, params });
};

/** Creates a stream that compresses a body in threads. `bytes` is its size where that is known. */
const createEncoder = (coding: ContentCoding, bytes?: number): Transform & zlib.Zlib => {
  const chunkSize = CHUNK_BYTES;
  if (coding === 'br') return zlib.createBrotliCompress(brotli(bytes, chunkSize));
  if (coding === 'gzip') return zlib.createGzip({ chunkSize, level: 1 });
  const params = { [ZSTD_c_compressionLevel]: 1 };
  return zlib.createZstdCompress({
    chunkSize,
    params,
    ...(bytes !== undefined && { pledgedSrcSize: bytes }),
  });
};

/**
 * Compresses the parts of a body in threads. Resolves with null once `isUnwanted` returns true. No thread reads the parts
 * after it has resolved.
 */
const encode = async (
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
