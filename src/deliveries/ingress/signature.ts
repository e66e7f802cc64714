import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RequestBody } from './request-body.ts';

const BYTES = 32;

/**
 * Whether `signature` is the HMAC-SHA256 of the body under one of `secrets`: hex or base64 (base64url too), with or without
 * the prefix `sha256=`. Upstream does not document whether it signs a compressed body before or after compression: either
 * is accepted.
 */
export const isSigned = (
  { sent, plain }: Pick<RequestBody, 'sent' | 'plain'>,
  signature: string | null,
  secrets: readonly string[],
): boolean => {
  const given = decode(signature ?? '');
  return matches(sent, given, secrets) || (plain !== sent && matches(plain, given, secrets));
};

/** Takes the same time whichever secret matches, or none. */
const matches = (body: Uint8Array, given: Buffer | null, secrets: readonly string[]): boolean => {
  const results = secrets.map((secret) =>
    timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given ?? Buffer.alloc(BYTES)),
  );
  return given !== null && results.includes(true);
};

const decode = (signature: string): Buffer | null => {
  const text = signature.trim().replace(/^sha256=/i, '');
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return null;
};
