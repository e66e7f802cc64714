import { createHmac, timingSafeEqual } from 'node:crypto';

const BYTES = 32;

/**
 * Whether `signature` is the HMAC-SHA256 of `body` under one of `secrets`: hex or base64 (url-safe too), with or
 * without `sha256=` before it. Takes the same time whichever secret matches, or none.
 */
export const isSigned = (body: Uint8Array, signature: string | null, secrets: readonly string[]): boolean => {
  const given = decode(signature ?? '');
  const matches = secrets.map((secret) =>
    timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given ?? Buffer.alloc(BYTES)),
  );
  return given !== null && matches.includes(true);
};

const decode = (signature: string): Buffer | null => {
  const text = signature.trim().replace(/^sha256=/i, '');
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return null;
};
