import type { SQLOutputValue } from 'node:sqlite';
import { LogDamagedError } from '../log/errors.ts';
import { fingerprintOf, identityOf, identityPrefix } from '../log/identity.ts';
import { DELIVERY_TYPES, type NewDelivery, type StoredDelivery } from '../log/log.ts';

/** A delivery's columns by name. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** Throws LogDamagedError when the body is not the one that was stored. */
export const checkBody = (row: Row): void => {
  const { sequence, webhook } = row;
  const prefix = Buffer.from(identityPrefix(webhook === null ? null : String(webhook)));
  if (!identityOf(Buffer.concat([prefix, bytesOf(row.body)])).equals(bytesOf(row.identity)))
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
    body: bytesOf(row.body),
  };
};

/** Returns the fingerprint of the delivery in this row. */
export const fingerprintIn = ({ identity, received }: Row): number =>
  fingerprintOf(bytesOf(identity), Number(received));

type Addresses = Pick<NewDelivery, 'addresses' | 'subscribedAddress'>;

/** Precedes the subscribed address. No address contains it, so a search in the text finds marked addresses too. */
const MARK = '*';

/** Encodes a delivery's addresses as the text of one column, separated by spaces. */
export const writeAddresses = ({ addresses, subscribedAddress }: Addresses): string =>
  addresses.map((address) => (address === subscribedAddress ? MARK + address : address)).join(' ');

/** Decodes the text of `writeAddresses`, also without the mark, which earlier releases did not write. */
export const readAddresses = (text: string): Addresses => {
  const words = text === '' ? [] : text.split(' ');
  const at = words.findIndex((word) => word.startsWith(MARK));
  const subscribedAddress = words[at]?.slice(MARK.length) ?? null;
  return {
    addresses: subscribedAddress === null ? words : words.with(at, subscribedAddress),
    subscribedAddress,
  };
};

const bytesOf = (value: SQLOutputValue | undefined): Uint8Array =>
  value instanceof Uint8Array ? value : new Uint8Array();

const numberOrNull = (value: SQLOutputValue | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);
