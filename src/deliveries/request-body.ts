import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf } from './errors.ts';
import { Refusal } from './refusal.ts';

export type BodyLimits = { readonly maxBytes: number; readonly timeoutMs: number };

export type RequestBody = {
  /** As it came. */
  readonly sent: Buffer;
  /** Inflated, where it came compressed; else the same. */
  readonly plain: Buffer;
};

const inflate = promisify(gunzip);

/**
 * All of the body. Rejects with a Refusal: 415 (neither plain nor gzip), 413 (bigger than `maxBytes`, as sent or as
 * inflated; no more of it is read), 408 (not all there after `timeoutMs`), 400 (not gzip though it says so, or cut).
 */
export async function readRequestBody(request: IncomingMessage, limits: BodyLimits): Promise<RequestBody> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'identity') {
    throw new Refusal(415, 'expected a body that is plain or gzip', { 'accept-encoding': 'gzip' });
  }
  const sent = await readSent(request, limits);
  return { sent, plain: isGzip ? await inflated(sent, limits.maxBytes) : sent };
}

function readSent(request: IncomingMessage, { maxBytes, timeoutMs }: BodyLimits): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) reject(tooLarge(maxBytes));
    else chunks.push(chunk);
  };
  const end = () => resolve(Buffer.concat(chunks));
  const cut = () => reject(new Refusal(400, 'the body ended early'));
  const timer = setTimeout(() => reject(new Refusal(408, 'the body took too long')), timeoutMs);

  if (Number(request.headers['content-length']) > maxBytes) reject(tooLarge(maxBytes));
  else request.on('data', take).on('end', end).on('close', cut).on('error', cut);
  return promise.finally(() => {
    clearTimeout(timer);
    request.off('data', take).off('end', end).off('close', cut);
  });
}

async function inflated(sent: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await inflate(sent, { maxOutputLength: maxBytes });
  } catch (error) {
    const isBomb = error instanceof RangeError;
    throw isBomb ? tooLarge(maxBytes) : new Refusal(400, `the body is not gzip: ${messageOf(error)}`);
  }
}

const tooLarge = (maxBytes: number) => new Refusal(413, `expected a body of at most ${maxBytes} bytes`);
