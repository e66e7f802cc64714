import { JsonSize } from '../../../lib/json/size-scanner.ts';
import { createFairMemory } from '../../../lib/memory/fair-memory.ts';

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
export const estimatedBytes = ({ bytes, values }: JsonSize): number =>
  Math.max(bytes, values * BYTES_A_VALUE);

/** Whether a text of this length reserves nothing, whatever JSON is in it. */
export const isExempt = (bytes: number): boolean =>
  (bytes / MIN_BYTES_A_VALUE) * BYTES_A_VALUE <= EXEMPT_BYTES;

/** The memory that a JSON text and its values take, in bytes. */
export const estimatedBytesOfText = (text: string): number =>
  isExempt(text.length) ? text.length : estimatedBytes(new JsonSize().add(Buffer.from(text)));
