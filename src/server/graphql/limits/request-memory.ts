import { JsonSize } from '../../../lib/json/size-scanner.ts';

/** What takes no room: nobody's ordinary operation is kept out by the big ones of others. */
const EXEMPT_BYTES = 64 * 1024;

/** Of what is held at a time. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What a value of JSON counts for at least. Once it is read, an empty object takes twice as much of the memory. */
const BYTES_A_VALUE = 32;
/** With the comma behind it. */
const MIN_BYTES_A_VALUE = 2;

/** What the text and the values of JSON that is held for an operation come to, in bytes. */
export const estimatedBytes = ({ bytes, values }: JsonSize): number =>
  Math.max(bytes, values * BYTES_A_VALUE);

/** Whether a text of so many bytes is ordinary, whatever is in it. */
export const isExempt = (bytes: number): boolean =>
  (bytes / MIN_BYTES_A_VALUE) * BYTES_A_VALUE <= EXEMPT_BYTES;

export const estimatedBytesOfText = (text: string): number =>
  isExempt(text.length) ? text.length : estimatedBytes(new JsonSize().add(Buffer.from(text)));

/** What one operation holds; nothing to begin with. */
export type Reservation = {
  /** Holds so much in all from now on; false when there is no room for it. */
  grow(weight: number): boolean;
  /** For good: who has left holds nothing more. */
  release(): void;
};

/** Bounds what all operations together hold of what they came with, from its first byte until they are answered. */
export type RequestMemory = { reserve(): Reservation };

export const createRequestMemory = (): RequestMemory => {
  let held = 0;
  return {
    reserve() {
      let own = 0;
      let isReleased = false;
      return {
        grow(weight) {
          if (isReleased || weight <= EXEMPT_BYTES) return true;
          if (held - own + weight > MAX_BYTES) return false;
          held += weight - own;
          own = weight;
          return true;
        },
        release() {
          held -= own;
          own = 0;
          isReleased = true;
        },
      };
    },
  };
};
