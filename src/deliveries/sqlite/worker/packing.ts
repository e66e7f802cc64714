import type { DeliveryPage, NewDelivery, StoredDelivery } from '../../log/log.ts';
import { identityPrefix } from '../identity.ts';
import { writeAddresses } from '../row.ts';

/**
 * A batch of deliveries on its way to the writer's thread. To send an object and a buffer for each would cost more than to
 * store them. So all bodies are one block, which is transferred and not copied, and each delivery is a tuple.
 */
export type PackedDeliveries = {
  readonly rows: readonly PackedRow[];
  readonly bytes: Uint8Array<ArrayBuffer>;
};

type PackedRow = readonly [
  tenant: string,
  webhookId: string | null,
  type: string | null,
  chainId: number | null,
  receivedAt: number,
  dispatchedAt: number | null,
  attempt: number | null,
  addresses: string,
  /** Where in `bytes` the identity's prefix begins, the body begins, and both end. */
  start: number,
  body: number,
  end: number,
];

/** A delivery in the writer's thread. `identity` and `body` are views of the batch's block. */
export type UnpackedDelivery = Omit<NewDelivery, 'type' | 'addresses' | 'subscribedAddress'> & {
  readonly type: string | null;
  /** See `writeAddresses`. */
  readonly addresses: string;
  /** The prefix and the body, from which `identityOf` is made. */
  readonly identity: Uint8Array;
};

const prefixOf = ({ webhookId }: NewDelivery): string => identityPrefix(webhookId);

export const packDeliveries = (deliveries: readonly NewDelivery[]): PackedDeliveries => {
  let size = 0;
  for (const delivery of deliveries) size += prefixOf(delivery).length + delivery.body.byteLength;
  const bytes = Buffer.from(new ArrayBuffer(size));
  let end = 0;
  const rows = deliveries.map((delivery): PackedRow => {
    const { tenant, webhookId, type, chainId, receivedAt, dispatchedAt, attempt } = delivery;
    const start = end;
    const body = start + bytes.write(prefixOf(delivery), start, 'latin1');
    bytes.set(delivery.body, body);
    end = body + delivery.body.byteLength;
    const addresses = writeAddresses(delivery);
    return [tenant, webhookId, type, chainId, receivedAt, dispatchedAt, attempt, addresses, start, body, end];
  });
  return { rows, bytes };
};

export const unpackDeliveries = ({ rows, bytes }: PackedDeliveries): UnpackedDelivery[] =>
  rows.map((row): UnpackedDelivery => {
    const [tenant, webhookId, type, chainId, receivedAt, dispatchedAt, attempt, addresses] = row;
    const [start, body, end] = [row[8], row[9], row[10]];
    return {
      tenant,
      webhookId,
      type,
      chainId,
      receivedAt,
      dispatchedAt,
      attempt,
      addresses,
      identity: bytes.subarray(start, end),
      body: bytes.subarray(body, end),
    };
  });

/** The place of a durable delivery. A duplicate has the place of the original. */
export type Stored = {
  readonly sequence: number;
  readonly fingerprint: number | null;
  readonly duplicate: boolean;
};

/** What became of one delivery of a batch. `refusal` says why it can't be stored. */
export type Placement = Stored | { readonly refusal: string };

/**
 * The placements of a batch, in its order. Lists of numbers, since an object for each placement takes ten times as long to
 * send. Most deliveries are neither duplicates nor refused: those are named by their index in the batch.
 */
export type PackedPlacements = {
  /** 0 for a refused delivery. */
  readonly sequences: readonly number[];
  readonly fingerprints: readonly (number | null)[];
  readonly duplicates: readonly number[];
  readonly refusals: readonly (readonly [index: number, refusal: string])[];
};

export const packPlacements = (placements: readonly Placement[]): PackedPlacements => {
  const packed = {
    sequences: [] as number[],
    fingerprints: [] as (number | null)[],
    duplicates: [] as number[],
    refusals: [] as [number, string][],
  };
  for (const [index, placement] of placements.entries()) {
    const isRefused = 'refusal' in placement;
    packed.sequences.push(isRefused ? 0 : placement.sequence);
    packed.fingerprints.push(isRefused ? null : placement.fingerprint);
    if (isRefused) packed.refusals.push([index, placement.refusal]);
    else if (placement.duplicate) packed.duplicates.push(index);
  }
  return packed;
};

export const unpackPlacements = (packed: PackedPlacements): Placement[] => {
  const duplicates = new Set(packed.duplicates);
  const refusals = new Map(packed.refusals);
  return packed.sequences.map((sequence, index): Placement => {
    const refusal = refusals.get(index);
    if (refusal !== undefined) return { refusal };
    return { sequence, fingerprint: packed.fingerprints[index] ?? null, duplicate: duplicates.has(index) };
  });
};

/** A page on its way from the reader's thread. All bodies are one block, since each one alone costs more to send. */
export type PackedPage = Omit<DeliveryPage, 'deliveries'> & {
  readonly deliveries: readonly Bodiless[];
  /** Where in `bytes` each body ends. It begins where the one before it ends. */
  readonly ends: readonly number[];
  readonly bytes: Uint8Array;
};

type Bodiless = Omit<StoredDelivery, 'body'>;

export const packPage = ({ deliveries, ...page }: DeliveryPage): PackedPage => {
  let size = 0;
  const ends = deliveries.map(({ body }) => {
    size += body.byteLength;
    return size;
  });
  const bytes = new Uint8Array(size);
  const bodiless = deliveries.map(({ body, ...delivery }, index): Bodiless => {
    bytes.set(body, (ends[index] ?? 0) - body.byteLength);
    return delivery;
  });
  return { ...page, deliveries: bodiless, ends, bytes };
};

export const unpackPage = ({ deliveries, ends, bytes, ...page }: PackedPage): DeliveryPage => {
  let start = 0;
  const complete = deliveries.map((delivery, index): StoredDelivery => {
    const body = bytes.subarray(start, ends[index]);
    start = ends[index] ?? start;
    return { ...delivery, body };
  });
  return { ...page, deliveries: complete };
};
