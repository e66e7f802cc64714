import type { IncomingHttpHeaders } from 'node:http';
import { WEBHOOK_TYPES } from '../../upstream/parse/enums.ts';
import { int32Of, oneOf, smallIntegerOf, timeOf } from '../events/fields.ts';
import type { DeliveryType } from '../log/log.ts';

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
  const bySuffix = new Map<string, string>();
  for (const name in headers) {
    const at = name.lastIndexOf('webhook-');
    const suffix = at === 0 || name[at - 1] === '-' ? name.slice(at) : null;
    const value = headers[name];
    if (suffix !== null && value !== undefined && !bySuffix.has(suffix))
      bySuffix.set(suffix, Array.isArray(value) ? value.join(', ') : value);
  }
  const typeName = oneOf(WEBHOOK_TYPES, bySuffix.get('webhook-type'));
  const signature = signatureHeader
    ? [headers[signatureHeader]].flat()[0]
    : bySuffix.get('webhook-signature');
  return {
    webhookId: uuidOf(bySuffix.get('webhook-id')),
    type: typeName === null ? null : TYPES[typeName],
    chainId: smallIntegerOf(bySuffix.get('webhook-chain-id')),
    dispatchedAt: timeOf(bySuffix.get('webhook-dispatch-timestamp')),
    attempt: int32Of(bySuffix.get('webhook-retry-index')),
    signature: signature ?? null,
  };
};

/** The UUID in lower case; null when the text is not a UUID. */
export const uuidOf = (text: string | null | undefined): string | null => {
  const uuid = text?.trim().toLowerCase() ?? '';
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) ? uuid : null;
};
