import type { SQLOutputValue } from 'node:sqlite';
import { LogDamagedError } from '../../log/errors.ts';
import { DELIVERY_TYPES, type StoredDelivery } from '../../log/log.ts';
import { readAddresses } from '../address-column.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { identityOf, identityPrefix } from '../identity.ts';

/** A delivery's columns by name. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** Throws LogDamagedError when the body is not what was stored. */
export const checkBody = ({ sequence, webhook, identity, body }: Row): void => {
  const prefix = Buffer.from(identityPrefix(webhook === null ? null : String(webhook)));
  const known = identity instanceof Uint8Array ? identity : new Uint8Array();
  const given = body instanceof Uint8Array ? body : new Uint8Array();
  if (!identityOf(Buffer.concat([prefix, given])).equals(known))
    throw new LogDamagedError(`the body of delivery ${sequence} is not what was stored`);
};

/** Throws LogDamagedError as `checkBody` does. */
export const storedDelivery = (row: Row, tenant: string, cursor: string): StoredDelivery => {
  checkBody(row);
  return {
    tenant,
    cursor,
    sequence: Number(row.sequence),
    webhookId: row.webhook === null ? null : String(row.webhook),
    type: DELIVERY_TYPES.find((type) => type === row.type) ?? null,
    chainId: numberOrNull(row.chain),
    receivedAt: Number(row.received),
    dispatchedAt: numberOrNull(row.dispatched),
    attempt: numberOrNull(row.attempt),
    ...readAddresses(String(row.addresses)),
    body: row.body instanceof Uint8Array ? row.body : new Uint8Array(),
  };
};

export const fingerprintIn = ({ identity, received }: Row): number =>
  fingerprintOf(identity instanceof Uint8Array ? identity : new Uint8Array(), Number(received));

const numberOrNull = (value: SQLOutputValue | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);
