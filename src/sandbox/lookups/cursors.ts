import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Position } from '../chain/transaction-store.ts';

const TAG_BYTES = 24;
const CURSOR = /^[A-Za-z0-9_-]{54}$/;

/** The list that a cursor belongs to. The cursor has no effect on any other list. */
export type Scope = readonly (string | number | boolean)[];

/**
 * Opaque offsets: a position in an order, and a tag that authenticates it. An offset names a position and not a count,
 * so new items at the head shift nothing.
 */
export class Cursors {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  issue(scope: Scope, { time, order }: Position): string {
    const place = Buffer.alloc(16);
    place.writeBigInt64LE(BigInt(time), 0);
    place.writeBigInt64LE(BigInt(order), 8);
    return Buffer.concat([place, this.#tag(scope, place)]).toString('base64url');
  }

  /** The position in an offset; null when the offset was not issued for this scope, and so has no effect. */
  read(scope: Scope, offset: string | null): Position | null {
    if (offset === null || !CURSOR.test(offset)) return null;
    const bytes = Buffer.from(offset, 'base64url');
    const place = bytes.subarray(0, 16);
    if (!timingSafeEqual(bytes.subarray(16), this.#tag(scope, place))) return null;
    return { time: Number(place.readBigInt64LE(0)), order: Number(place.readBigInt64LE(8)) };
  }

  #tag(scope: Scope, place: Buffer): Buffer {
    const hmac = createHmac('sha256', this.#secret).update(JSON.stringify(scope)).update(place);
    return hmac.digest().subarray(0, TAG_BYTES);
  }
}
