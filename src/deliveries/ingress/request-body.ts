import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Reservation } from '../../lib/memory-budget.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { messageOf } from '../log/errors.ts';
import { IngressError, unavailable } from './http-error.ts';

export type BodyLimits = { readonly maxBytes: number; readonly timeoutMs: number };

export type RequestBody = {
  /** As it came. */
  readonly sent: Buffer;
  /** Inflated, where it came compressed; else the same. */
  readonly plain: Buffer;
};

const inflate = promisify(gunzip);

/** The highest ratio that deflate reaches. */
const MAX_RATIO = 1032;

/** Few bodies inflate at a time, so that many small ones don't ask for the room of as many large ones. */
const MAX_INFLATING = 4;
/** A waiting body is held as it was sent. */
const MAX_WAITING = 1000;

export const createInflating = (): Semaphore => new Semaphore(MAX_INFLATING, MAX_WAITING);

/**
 * All of the body, whose bytes `reservation` is told of before they are kept. Rejects with an IngressError: 415 (neither plain nor
 * gzip), 413 (bigger than `maxBytes`, as sent or as inflated), 503 (no room for it), in each of which no more of it is
 * read; 408 (not all there after `timeoutMs`), 400 (not gzip though it says so, or cut).
 */
export const readRequestBody = async (
  request: IncomingMessage,
  limits: BodyLimits,
  reservation: Reservation,
  inflating: Semaphore,
): Promise<RequestBody> => {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'identity')
    throw new IngressError(415, 'expected a body that is plain or gzip', { 'accept-encoding': 'gzip' });
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.maxBytes) throw tooLarge(limits.maxBytes);
  reserve(reservation, announced);
  const sent = await collect(request, limits, announced === 0 ? reservation : null);
  if (!isGzip) return { sent, plain: sent };
  if (inflating.isFull) throw unavailable();
  const plain = await inflating.run(() => inflated(sent, limits.maxBytes, reservation));
  return { sent, plain };
};

const collect = (
  request: IncomingMessage,
  { maxBytes, timeoutMs }: BodyLimits,
  /** Null when it knows of the body already. */
  reservation: Reservation | null,
): Promise<Buffer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const fail = (error: unknown) => {
    clearTimeout(timer);
    request.off('data', take).off('end', end).off('close', cut);
    reject(error);
  };
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) return fail(tooLarge(maxBytes));
    try {
      if (reservation) reserve(reservation, chunk.length);
      chunks.push(chunk);
    } catch (error) {
      fail(error);
    }
  };
  const end = () => {
    clearTimeout(timer);
    request.off('close', cut);
    const [only] = chunks;
    resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  };
  const cut = () => fail(new IngressError(400, 'the body ended early'));
  const timer = setTimeout(() => fail(new IngressError(408, 'the body took too long')), timeoutMs);
  request.on('data', take).on('end', end).on('close', cut);
  return promise;
};

/** Room for the inflated body is reserved first, since a bomb inflates to a thousand times its size. */
const inflated = async (sent: Buffer, maxBytes: number, reservation: Reservation): Promise<Buffer> => {
  const atMost = Math.min(maxBytes, sent.length * MAX_RATIO);
  reserve(reservation, atMost);
  try {
    const plain = await inflate(sent, { maxOutputLength: maxBytes });
    reservation.shrink(atMost - plain.length);
    return plain;
  } catch (error) {
    const isBomb = error instanceof RangeError;
    throw isBomb ? tooLarge(maxBytes) : new IngressError(400, `the body is not gzip: ${messageOf(error)}`);
  }
};

const reserve = (reservation: Reservation, bytes: number): void => {
  if (!reservation.tryGrow(bytes)) throw unavailable();
};

const tooLarge = (maxBytes: number) => new IngressError(413, `expected a body of at most ${maxBytes} bytes`);
