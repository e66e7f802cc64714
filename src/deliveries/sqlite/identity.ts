import { hash } from 'node:crypto';

/** Of SHA-256. A collision takes 2^64 tries, and would only make one of the sender's own deliveries a duplicate. */
const BYTES = 16;

/** Stands before the body in what is hashed. A webhook's id is a UUID or empty, so the prefix's end is never in doubt. */
export const identityPrefix = (webhookId: string | null): string => `${webhookId ?? ''}\n`;

/** The identity of a delivery, from its prefix and its body in one. Deliveries of a tenant that share it are duplicates. */
export const identityOf = (prefixAndBody: Uint8Array): Buffer =>
  hash('sha256', prefixAndBody, 'buffer').subarray(0, BYTES);
