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
