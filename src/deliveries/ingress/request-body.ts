import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf } from '../../lib/error-text.ts';
import type { Reservation } from '../../lib/memory/memory-budget.ts';
import { Semaphore } from '../../lib/scheduling/semaphore.ts';
import { IngressError, unavailable } from './http-error.ts';

export type BodyLimits = { readonly maxBytes: number; readonly timeoutMs: number };

export type RequestBody = {
  /** The bytes that were sent. */
  readonly sent: Buffer;
  /** The body decompressed; `sent` itself if it was not compressed. */
  readonly plain: Buffer;
};

const decompress = promisify(gunzip);

/** The highest compression ratio that deflate reaches. */
const MAX_RATIO = 1032;

/** Few bodies are decompressed at a time, so that many small ones don't reserve the memory of as many large ones. */
const MAX_DECOMPRESSING = 4;
/** A queued body is in memory as it was sent. */
const MAX_QUEUED = 1000;

export const createDecompressionLimit = (): Semaphore => new Semaphore(MAX_DECOMPRESSING, MAX_QUEUED);

/**
 * Reads and decompresses the body. Its bytes are reserved before they are buffered. Rejects with an IngressError:
 * - 415: neither plain nor gzip; 413: larger than `maxBytes`, as sent or decompressed; 503: no memory left. The rest of
 *   the body is not read.
 * - 408: not complete within `timeoutMs`; 400: incomplete, or not the gzip that the header claims.
 */
export const readRequestBody = async (
  request: IncomingMessage,
  limits: BodyLimits,
  reservation: Reservation,
  decompressing: Semaphore,
): Promise<RequestBody> => {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'identity')
    throw new IngressError(415, 'expected a body that is plain or gzip, got another Content-Encoding', {
      'accept-encoding': 'gzip',
    });
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits.maxBytes);
  reserve(reservation, announced);
  const sent = await collect(request, limits, announced === 0 ? reservation : null);
  if (!isGzip) return { sent, plain: sent };
  if (decompressing.isFull) throw unavailable();
  const plain = await decompressing.run(() => decompressWithin(sent, limits.maxBytes, reservation));
  return { sent, plain };
};

const collect = (
  request: IncomingMessage,
  { maxBytes, timeoutMs }: BodyLimits,
  /** Null when the body's bytes are reserved already. */
  reservation: Reservation | null,
): Promise<Buffer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const fail = (error: unknown) => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', onClose);
    reject(error);
  };
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) return fail(tooLarge(maxBytes));
    try {
      if (reservation) reserve(reservation, chunk.length);
      chunks.push(chunk);
    } catch (error) {
      fail(error);
    }
  };
  const onEnd = () => {
    clearTimeout(timer);
    request.off('close', onClose);
    const [only] = chunks;
    resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  };
  const onClose = () => fail(new IngressError(400, 'expected a complete body, got a part of it'));
  const onTimeout = () =>
    fail(new IngressError(408, `expected a complete body within ${timeoutMs} ms, got a part of it`));
  const timer = setTimeout(onTimeout, timeoutMs);
  request.on('data', onData).on('end', onEnd).on('close', onClose);
  return promise;
};

/** Reserves the memory of the largest possible output first, because a bomb expands to a thousand times its size. */
const decompressWithin = async (
  sent: Buffer,
  maxBytes: number,
  reservation: Reservation,
): Promise<Buffer> => {
  const atMost = Math.min(maxBytes, sent.length * MAX_RATIO);
  reserve(reservation, atMost);
  try {
    const plain = await decompress(sent, { maxOutputLength: maxBytes });
    reservation.shrink(atMost - plain.length);
    return plain;
  } catch (error) {
    const isBomb = error instanceof RangeError;
    throw isBomb
      ? tooLarge(maxBytes)
      : new IngressError(
          400,
          `expected a gzip body, got one that can not be decompressed: ${messageOf(error)}`,
        );
  }
};

const reserve = (reservation: Reservation, bytes: number): void => {
  if (!reservation.tryGrow(bytes)) throw unavailable();
};

const tooLarge = (maxBytes: number) =>
  new IngressError(413, `expected a body of at most ${maxBytes} bytes, got a larger one`);
