import { hash } from 'node:crypto';

/** Bytes of SHA-256. A collision takes 2^64 tries, and only makes one of the sender's own deliveries a duplicate. */
export const IDENTITY_BYTES = 16;

/** Precedes the body in what is hashed. A webhook's id is a UUID or empty, so it is clear where the prefix ends. */
export const identityPrefix = (webhookId: string | null): string => `${webhookId ?? ''}\n`;

/**
 * Returns the identity of a delivery, from its prefix and its body in one. Deliveries of a tenant with the same identity
 * are duplicates.
 */
export const identityOf = (prefixAndBody: Uint8Array): Buffer =>
  hash('sha256', prefixAndBody, 'buffer').subarray(0, IDENTITY_BYTES);

const FINGERPRINT_BYTES = 6;
const FINGERPRINT_LIMIT = 2 ** (8 * FINGERPRINT_BYTES);

/** The fingerprint of the place before a tenant's first delivery. */
export const BEFORE_FIRST = 0;

/**
 * Returns 48 bits of a delivery's identity and the time when it was received. After a restored copy, another delivery may
 * have the same number, but its fingerprint differs. The time makes the fingerprints of the same body differ, too, if it
 * is sent again: the deliveries before it may be others.
 */
export const fingerprintOf = (identity: Uint8Array, receivedAt: number): number => {
  let bits = 0;
  for (let at = 0; at < FINGERPRINT_BYTES; at += 1) bits = bits * 256 + (identity[at] ?? 0);
  return (((bits + receivedAt) % FINGERPRINT_LIMIT) + FINGERPRINT_LIMIT) % FINGERPRINT_LIMIT;
};
