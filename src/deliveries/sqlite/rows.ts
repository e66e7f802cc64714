import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Steps } from '../../lib/time-slices.ts';
import { type Extent, fingerprintOf, identityOf, identityPrefix, UNKNOWN } from '../log/cursor.ts';
import { LogDamagedError } from '../log/errors.ts';
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

/** A delivery whose addresses are the text of its row. */
export type RowDelivery = Omit<StoredDelivery, keyof Addresses> & { readonly addresses: string };

/** Throws LogDamagedError as `checkBody` does. */
export const storedDelivery = (row: Row, tenant: string, cursor: string): StoredDelivery => {
  const { addresses, ...delivery } = rowDelivery(row, tenant, cursor);
  return { ...delivery, ...readAddresses(addresses) };
};

/** Throws LogDamagedError as `checkBody` does. */
export const rowDelivery = (row: Row, tenant: string, cursor: string): RowDelivery => {
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
    addresses: String(row.addresses),
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

/** Decodes the text of `writeAddresses`. */
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

export const numberOrNull = (value: SQLOutputValue | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);

/** Reads the fingerprints of stored deliveries. */
export class Fingerprints {
  readonly #stored;
  readonly #trimmed;

  constructor(database: DatabaseSync) {
    this.#stored = database.prepare('SELECT identity, received FROM delivery WHERE id = (? << 40 | ?)');
    this.#trimmed = database.prepare('SELECT fingerprint FROM trimmed WHERE tenant = ? AND sequence = ?');
  }

  /** Returns the fingerprint of a tenant's delivery, including the last trimmed one; UNKNOWN for any other. */
  at(tenant: number, sequence: number): number {
    const row = this.#stored.get(tenant, sequence);
    if (row?.identity instanceof Uint8Array) return fingerprintOf(row.identity, Number(row.received));
    const trimmed = this.#trimmed.get(tenant, sequence);
    return Number(trimmed?.fingerprint ?? UNKNOWN);
  }
}

/** A body may have five megabytes. */
const LOADED_AT_ONCE = 16;

const ROW = `SELECT sequence, webhook, type, chain, received, dispatched, attempt, identity, addresses, body FROM delivery`;

/** The deliveries up to `indexed` are in segments. */
export type TenantExtent = Extent & { readonly id: number; readonly indexed: number };

/** A tenant that never had a delivery. Ids begin with 1. */
const EMPTY: TenantExtent = { id: 0, head: 0, floor: 0, indexed: 0 };

/** Reads tenants' extents and deliveries' rows. */
export class Rows {
  readonly #extent;
  readonly #row;
  readonly #rows;

  constructor(database: DatabaseSync) {
    this.#extent = database.prepare('SELECT id, head, floor, indexed FROM tenant WHERE name = ?');
    this.#row = database.prepare(`${ROW} WHERE id = (? << 40 | ?)`);
    this.#rows = database.prepare(`${ROW} WHERE id BETWEEN (?1 << 40 | ?2) AND (?1 << 40 | ?3) ORDER BY id`);
  }

  extent(tenant: string): TenantExtent {
    const row = this.#extent.get(tenant);
    if (row === undefined) return EMPTY;
    const { id, head, floor, indexed } = row;
    return { id: Number(id), head: Number(head), floor: Number(floor), indexed: Number(indexed) };
  }

  get(tenant: number, sequence: number): Row | undefined {
    return this.#row.get(tenant, sequence);
  }

  /**
   * Loads the deliveries with these sequences, a few a step, and skips those that were trimmed since they were found. Stops
   * after the body that passes `maxBytes`.
   */
  *load(
    tenant: number,
    sequences: readonly number[],
    maxBytes: number,
    deliveryOf: (row: Row) => RowDelivery,
  ): Steps<RowDelivery[]> {
    const deliveries: RowDelivery[] = [];
    let bytes = 0;
    for (let at = 0; at < sequences.length; at += LOADED_AT_ONCE) {
      for (const row of this.#rowsOf(tenant, sequences.slice(at, at + LOADED_AT_ONCE))) {
        const delivery = deliveryOf(row);
        deliveries.push(delivery);
        bytes += delivery.body.byteLength;
        if (bytes >= maxBytes) return deliveries;
      }
      yield;
    }
    return deliveries;
  }

  /** Reads sequences without a gap by one statement. */
  *#rowsOf(tenant: number, sequences: readonly number[]): Iterable<Row> {
    const [first, last] = [sequences[0], sequences.at(-1)];
    if (first === undefined || last === undefined) return;
    if (last - first === sequences.length - 1) return yield* this.#rows.iterate(tenant, first, last);
    for (const sequence of sequences) {
      const row = this.#row.get(tenant, sequence);
      if (row !== undefined) yield row;
    }
  }
}
