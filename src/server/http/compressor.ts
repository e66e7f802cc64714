import type { ServerResponse } from 'node:http';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { createMemoryBudget } from '../../lib/memory/memory-budget.ts';
import type { ContentCoding } from './content-coding.ts';
import { ENCODERS, encode } from './encode.ts';

/** A smaller body fits into one packet as it is. */
const MIN_BYTES = 1024;
/** A larger body is compressed in a thread. */
const MAX_SMALL_BYTES = 16 * 1024;

/** The memory of the bodies in threads, and of their encoders. A larger body is compressed while there is no other. */
const MAX_BYTES_IN_THREADS = 32 * 1024 * 1024;
/** What an encoder takes beside its body. */
const ENCODER_BYTES = 1024 * 1024;

/**
 * Compresses the body of a response. Returns null at once for a body that is sent as it is: it is small, or too many are
 * being compressed. Resolves with null when the client has disconnected. The body is not read any more then.
 */
export type Compress = (
  body: () => readonly Buffer[],
  bytes: number,
  coding: ContentCoding,
  response: ServerResponse,
) => MaybePromise<readonly Buffer[] | null>;

export const createCompressor = (): Compress => {
  const memory = createMemoryBudget(MAX_BYTES_IN_THREADS);
  return (body, bytes, coding, response) => {
    if (bytes < MIN_BYTES) return null;
    if (bytes <= MAX_SMALL_BYTES) return [ENCODERS[coding].encodeSmall(Buffer.concat(body()))];
    const { tryGrow, release } = memory.reserve();
    if (!tryGrow(bytes + ENCODER_BYTES)) return null;
    return encode(body(), bytes, coding, () => response.destroyed).finally(release);
  };
};
