import { hash } from 'node:crypto';

/** Of SHA-256: to find two alike takes 2^64 tries, and whoever did so would only have kept one of his own out. */
const BYTES = 16;

/** What stands before a body. The webhook is a UUID or nothing, so that where it ends is never in doubt. */
export const identityPrefix = (webhookId: string | null): string => `${webhookId ?? ''}\n`;

/** What makes a delivery a duplicate of its tenant's, from its prefix and its body in one. */
export const identityOf = (prefixAndBody: Uint8Array): Buffer =>
  hash('sha256', prefixAndBody, 'buffer').subarray(0, BYTES);
