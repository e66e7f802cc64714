import type { ServerResponse } from 'node:http';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { createMemoryBudget } from '../../lib/memory/memory-budget.ts';
import { type ContentCoding, preferredCoding } from './content-coding.ts';
import { encode, encodeSmall, MAX_SMALL_BYTES } from './encode.ts';

/** A smaller body fits into one packet as it is. */
const MIN_BYTES = 1024;

/** The memory of the bodies in threads, and of their encoders. A larger body is compressed while there is no other. */
const MAX_BYTES_IN_THREADS = 32 * 1024 * 1024;
/** What an encoder takes beside its body. */
const ENCODER_BYTES = 1024 * 1024;

/** A compressed body. `body` is null when its client has disconnected in the meantime. */
export type Compressed = { readonly coding: ContentCoding; readonly body: readonly Buffer[] | null };

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

export const createCompressor = (): Compress => {
  const memory = createMemoryBudget(MAX_BYTES_IN_THREADS);
  return (body, bytes, acceptEncoding, response) => {
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
};
