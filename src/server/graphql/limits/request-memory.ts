import type { ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { clientError } from '../../../graph/errors.ts';
import { MAX_SHAPES, parseInSlices, TooManyShapesError } from '../../../lib/json/parse-in-slices.ts';
import { JsonSize } from '../../../lib/json/size.ts';
import { createFairMemory } from '../../../lib/memory-budget.ts';
import { onResponseClosed } from '../../http/exchange.ts';

/**
 * The memory for all requests of one client over one transport, from the first byte of each until it is answered. Those of
 * all clients may use twice as much.
 */
const MAX_BYTES = 64 * 1024 * 1024;
/** A body of 8 MB has to arrive at this rate, to be here within half a minute. */
const STALL_MS = 250;
/** A smaller request reserves nothing: large requests of some clients must not keep out the ordinary ones of others. */
const EXEMPT_BYTES = 64 * 1024;

/** The least memory that a JSON value counts for. Parsed, an empty object takes about twice as much. */
const BYTES_A_VALUE = 32;
/** The least length of a JSON value, with the comma behind it. */
const MIN_BYTES_A_VALUE = 2;

/** The memory of the requests of one transport. */
export type RequestMemory = {
  /** `client` is the caller's billing key. `evict`: see FairMemory; without it the request has arrived. */
  reserve(client: string, evict?: () => void): RequestReservation;
};

export type RequestReservation = {
  /** Reserves memory for the request up to this total. Returns false, and reserves no more, where that does not fit. */
  growTo(bytes: number): boolean;
  /** The whole request is here. */
  arrived(): void;
  /** Releases all bytes for good. */
  release(): void;
};

export const createRequestMemory = (): RequestMemory => {
  const memory = createFairMemory({ maxBytes: MAX_BYTES, stallMs: STALL_MS });
  return {
    reserve(client, evict) {
      const { tryGrow, arrived, release } = memory.hold(client, evict);
      let reserved = 0;
      return {
        growTo(bytes) {
          if (bytes <= EXEMPT_BYTES || bytes <= reserved) return true;
          if (!tryGrow(bytes - reserved)) return false;
          reserved = bytes;
          return true;
        },
        arrived,
        release,
      };
    },
  };
};

/** The memory that a JSON text of this size and its values take, in bytes. */
const estimatedBytes = ({ bytes, values }: JsonSize): number => Math.max(bytes, values * BYTES_A_VALUE);

/** Whether a text of this length reserves nothing, whatever JSON is in it. */
const isExempt = (bytes: number): boolean => (bytes / MIN_BYTES_A_VALUE) * BYTES_A_VALUE <= EXEMPT_BYTES;

/** The memory that a JSON text and its values take, in bytes. */
export const estimatedBytesOfText = (text: string): number =>
  isExempt(text.length) ? text.length : estimatedBytes(new JsonSize().add(Buffer.from(text)));

/** The most bytes of a body. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The most values of a body. 8 MB hold a list of 180,000 addresses. */
const MAX_VALUES = 250_000;

/** Whether a request with this Content-Length is exempt. A chunked body has none, so it isn't. */
export const isSmallBody = (contentLength: string | null | undefined): boolean =>
  typeof contentLength === 'string' && isExempt(Number(contentLength));

export type BodyLimit = {
  /** Counts the next chunk of the body before it is stored. Throws if the body exceeds a limit. */
  add(chunk: Uint8Array): void;
  /** The whole body is here: it keeps its memory until it is released. */
  arrived(): void;
  /** Counts the body no longer. */
  release(): void;
};

/**
 * Bounds the memory of a large request from its first byte until it is answered: a body may take half a minute to arrive, and
 * longer to be answered. A body that does not fit is rejected with 503, and one of too many values with 413, before the rest
 * of it is read. `abort` is called with the 503 if the body stalls while others need its memory.
 */
export const limitBody = (
  requestMemory: RequestMemory,
  client: string,
  response: ServerResponse,
  abort: (error: GraphQLError) => void,
): BodyLimit => {
  const { growTo, arrived, release } = requestMemory.reserve(client, () => abort(overMemoryLimit()));
  onResponseClosed(response, release);
  const size = new JsonSize();
  return {
    add(chunk) {
      size.add(chunk);
      if (size.bytes > MAX_BODY_BYTES) throw tooLarge();
      if (size.values > MAX_VALUES) throw tooManyValues();
      if (!growTo(estimatedBytes(size))) throw overMemoryLimit();
    },
    arrived,
    release,
  };
};

/** Parses a body, a large one in slices. Rejects with SyntaxError, and if its objects have too many shapes. */
export const parseBody = async (text: string): Promise<unknown> => {
  try {
    return await parseInSlices(text);
  } catch (error) {
    throw error instanceof TooManyShapesError ? tooManyShapes() : error;
  }
};

export const tooLarge = () =>
  clientError('BAD_USER_INPUT', 'Expected a body of at most 8 MB, got more.', { http: { status: 413 } });

const tooManyValues = () =>
  clientError('OPERATION_TOO_COMPLEX', `Expected a body of at most ${MAX_VALUES} JSON values, got more.`, {
    http: { status: 413 },
  });

const tooManyShapes = () =>
  clientError(
    'OPERATION_TOO_COMPLEX',
    `Expected a body whose JSON objects have at most ${MAX_SHAPES} shapes, got more.`,
    { http: { status: 413 } },
  );

const overMemoryLimit = () =>
  clientError('OPERATION_TOO_COMPLEX', 'Too many large requests are being received at once.', {
    http: { status: 503, headers: { 'retry-after': '5' } },
  });
