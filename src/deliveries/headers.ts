import type { IncomingHttpHeaders } from 'node:http';
import { oneOf, smallIntegerOf, timeOf } from './fields.ts';
import type { DeliveryType } from './log.ts';

/** What the headers say of a delivery; null is what they leave out or what is malformed. */
export type DeliveryHeaders = {
  readonly webhookId: string | null;
  readonly type: DeliveryType | null;
  readonly chainId: number | null;
  readonly dispatchedAt: number | null;
  readonly attempt: number | null;
};

const TYPES = { TRANSACTIONS: 'transactions', ACTIVITIES: 'activities', BALANCES: 'balances' } as const;
const TYPE_NAMES = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'] as const;

export function readHeaders(headers: IncomingHttpHeaders): DeliveryHeaders {
  const typeName = oneOf(TYPE_NAMES, headerBySuffix(headers, 'webhook-type'));
  const attempt = smallIntegerOf(headerBySuffix(headers, 'webhook-retry-index'));
  return {
    webhookId: uuidOf(headerBySuffix(headers, 'webhook-id')),
    type: typeName === null ? null : TYPES[typeName],
    chainId: smallIntegerOf(headerBySuffix(headers, 'webhook-chain-id')),
    dispatchedAt: timeOf(headerBySuffix(headers, 'webhook-dispatch-timestamp')),
    attempt: attempt !== null && attempt < 2 ** 31 ? attempt : null,
  };
}

/** Every deployment puts its own prefix before the names of its headers. */
export function headerBySuffix(headers: IncomingHttpHeaders, suffix: string): string | undefined {
  const name = Object.keys(headers).find((key) => key === suffix || key.endsWith(`-${suffix}`));
  const value = name === undefined ? undefined : headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Lower case. */
export function uuidOf(text: string | null | undefined): string | null {
  const uuid = text?.trim().toLowerCase() ?? '';
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) ? uuid : null;
}
