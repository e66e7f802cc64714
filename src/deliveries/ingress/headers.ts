import type { IncomingHttpHeaders } from 'node:http';
import { int32Of, oneOf, smallIntegerOf, timeOf } from '../events/fields.ts';
import type { DeliveryType } from '../log/log.ts';

/** What the headers say of a delivery; null is what they leave out or what is malformed. */
export type DeliveryHeaders = {
  readonly webhookId: string | null;
  readonly type: DeliveryType | null;
  readonly chainId: number | null;
  readonly dispatchedAt: number | null;
  readonly attempt: number | null;
  /** As it came. */
  readonly signature: string | null;
};

const TYPES = { TRANSACTIONS: 'transactions', ACTIVITIES: 'activities', BALANCES: 'balances' } as const;
const TYPE_NAMES = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'] as const;

/** Every deployment puts its own prefix before the names of its headers; of two that end alike the first counts. */
export const readHeaders = (headers: IncomingHttpHeaders): DeliveryHeaders => {
  const said = new Map<string, string>();
  for (const name in headers) {
    const at = name.lastIndexOf('webhook-');
    const suffix = at === 0 || name[at - 1] === '-' ? name.slice(at) : null;
    const value = headers[name];
    if (suffix !== null && value !== undefined && !said.has(suffix))
      said.set(suffix, Array.isArray(value) ? value.join(', ') : value);
  }
  const typeName = oneOf(TYPE_NAMES, said.get('webhook-type'));
  return {
    webhookId: uuidOf(said.get('webhook-id')),
    type: typeName === null ? null : TYPES[typeName],
    chainId: smallIntegerOf(said.get('webhook-chain-id')),
    dispatchedAt: timeOf(said.get('webhook-dispatch-timestamp')),
    attempt: int32Of(said.get('webhook-retry-index')),
    signature: said.get('webhook-signature') ?? null,
  };
};

/** Lower case. */
export const uuidOf = (text: string | null | undefined): string | null => {
  const uuid = text?.trim().toLowerCase() ?? '';
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) ? uuid : null;
};
