import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { WEBHOOK_TYPES } from '../../upstream/parse/fields.ts';
import { int32Of, oneOf, smallIntegerOf, timeOf } from '../events/fields.ts';
import type { DeliveryType } from '../log/log.ts';
import type { RequestBody } from './request-body.ts';

/** A delivery's headers; a field is null when its header is missing or malformed. */
export type DeliveryHeaders = {
  readonly webhookId: string | null;
  readonly type: DeliveryType | null;
  readonly chainId: number | null;
  readonly dispatchedAt: number | null;
  readonly attempt: number | null;
  /** Not decoded. */
  readonly signature: string | null;
};

/** In the order in which `readHeaders` reads them. A few comparisons cost less than a map, which interns each key. */
const SUFFIXES: readonly string[] = [
  'webhook-id',
  'webhook-type',
  'webhook-chain-id',
  'webhook-dispatch-timestamp',
  'webhook-retry-index',
  'webhook-signature',
];

const TYPES = { TRANSACTIONS: 'transactions', ACTIVITIES: 'activities', BALANCES: 'balances' } as const;

/**
 * Reads the headers by their suffix, because every deployment puts its own prefix before it. If two headers have one suffix,
 * the first counts. `signatureHeader` is the name, in lower case, of the header with the signature. Default: the one whose
 * name ends in `webhook-signature`.
 */
export const readHeaders = (
  headers: IncomingHttpHeaders,
  signatureHeader?: string | null | undefined,
): DeliveryHeaders => {
  const values: (string | undefined)[] = [];
  for (const name in headers) {
    const at = name.lastIndexOf('webhook-');
    if (at === -1 || (at > 0 && name[at - 1] !== '-')) continue;
    const field = SUFFIXES.indexOf(name.slice(at));
    const value = headers[name];
    if (field !== -1) values[field] ??= Array.isArray(value) ? value.join(', ') : value;
  }
  const [id, type, chainId, dispatchedAt, attempt, signature] = values;
  const typeName = oneOf(WEBHOOK_TYPES, type);
  const named = signatureHeader ? [headers[signatureHeader]].flat()[0] : signature;
  return {
    webhookId: uuidOf(id),
    type: typeName === null ? null : TYPES[typeName],
    chainId: smallIntegerOf(chainId),
    dispatchedAt: timeOf(dispatchedAt),
    attempt: int32Of(attempt),
    signature: named ?? null,
  };
};

/** The UUID in lower case; null when the text is not a UUID. */
export const uuidOf = (text: string | null | undefined): string | null => {
  const uuid = text?.trim().toLowerCase() ?? '';
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) ? uuid : null;
};

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
