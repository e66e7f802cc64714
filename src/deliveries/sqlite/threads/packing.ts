import type { Stored } from '../../log/appends.ts';
import { identityPrefix, UNKNOWN } from '../../log/cursor.ts';
import type { DeliveryPage, NewDelivery, StoredDelivery } from '../../log/log.ts';
import { type RowDelivery, readAddresses, writeAddresses } from '../rows.ts';

/**
 * A batch of deliveries on its way to the writer's thread. To send an object and a buffer for each would cost more than to
 * store them. So all bodies are one block, which is transferred and not copied, and all numbers are one list.
 */
export type PackedDeliveries = {
  /** The tenants, webhooks and types. Those that the delivery before has too are not repeated. */
  readonly names: readonly (string | null)[];
  /** The addresses of each delivery; see `writeAddresses`. */
  readonly addresses: readonly string[];
  /** A row of COLUMNS for each delivery. */
  readonly numbers: Float64Array;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

/**
 * The columns of `numbers`, in which NaN is null. NAMES: where in `names` the tenant is; the webhook and the type come next.
 * START, BODY and END: where in `bytes` the identity's prefix begins, the body begins, and both end.
 */
const [NAMES, CHAIN, RECEIVED, DISPATCHED, ATTEMPT, START, BODY, END] = [0, 1, 2, 3, 4, 5, 6, 7];
const COLUMNS = 8;

/** A delivery in the writer's thread. `identity` and `body` are views of the batch's block. */
export type UnpackedDelivery = Omit<NewDelivery, 'type' | 'addresses' | 'subscribedAddress'> & {
  readonly type: string | null;
  /** See `writeAddresses`. */
  readonly addresses: string;
  /** The prefix and the body, from which `identityOf` is made. */
  readonly identity: Uint8Array;
};

const prefixOf = ({ webhookId }: NewDelivery): string => identityPrefix(webhookId);

type Numbered = NewDelivery | RowDelivery;

/** Writes the names and the numbers of deliveries that are sent. */
class Columns {
  readonly names: (string | null)[] = [];
  readonly numbers: Float64Array;
  #before: Numbered | null = null;
  #at = 0;

  constructor(deliveries: number) {
    this.numbers = new Float64Array(deliveries * COLUMNS);
  }

  add(delivery: Numbered, first: number, body: number, end: number): void {
    const { tenant, webhookId, type } = delivery;
    const before = this.#before;
    if (tenant !== before?.tenant || webhookId !== before.webhookId || type !== before.type)
      this.names.push(tenant, webhookId, type);
    this.#before = delivery;
    const { numbers } = this;
    const at = this.#at;
    numbers[at + NAMES] = this.names.length - 3;
    numbers[at + CHAIN] = delivery.chainId ?? Number.NaN;
    numbers[at + RECEIVED] = delivery.receivedAt;
    numbers[at + DISPATCHED] = delivery.dispatchedAt ?? Number.NaN;
    numbers[at + ATTEMPT] = delivery.attempt ?? Number.NaN;
    numbers[at + START] = first;
    numbers[at + BODY] = body;
    numbers[at + END] = end;
    this.#at += COLUMNS;
  }
}

export const packDeliveries = (deliveries: readonly NewDelivery[]): PackedDeliveries => {
  let size = 0;
  for (const delivery of deliveries) size += prefixOf(delivery).length + delivery.body.byteLength;
  const bytes = Buffer.from(new ArrayBuffer(size));
  const columns = new Columns(deliveries.length);
  let end = 0;
  for (const delivery of deliveries) {
    const start = end;
    const body = start + bytes.write(prefixOf(delivery), start, 'latin1');
    bytes.set(delivery.body, body);
    end = body + delivery.body.byteLength;
    columns.add(delivery, start, body, end);
  }
  const { names, numbers } = columns;
  return { names, numbers, addresses: deliveries.map(writeAddresses), bytes };
};

export const unpackDeliveries = (packed: PackedDeliveries): UnpackedDelivery[] => {
  const { names, numbers, bytes } = packed;
  return packed.addresses.map((addresses, index): UnpackedDelivery => {
    const at = index * COLUMNS;
    const name = numbers[at + NAMES] ?? 0;
    const end = numbers[at + END];
    return {
      tenant: names[name] ?? '',
      webhookId: names[name + 1] ?? null,
      type: names[name + 2] ?? null,
      chainId: nullIfNaN(numbers[at + CHAIN]),
      receivedAt: numbers[at + RECEIVED] ?? Number.NaN,
      dispatchedAt: nullIfNaN(numbers[at + DISPATCHED]),
      attempt: nullIfNaN(numbers[at + ATTEMPT]),
      addresses,
      identity: bytes.subarray(numbers[at + START], end),
      body: bytes.subarray(numbers[at + BODY], end),
    };
  });
};

const nullIfNaN = (number = Number.NaN): number | null => (Number.isNaN(number) ? null : number);

/** What became of one delivery of a batch. `refusal` says why it can't be stored. */
export type Placement = Stored | { readonly refusal: string };

/**
 * The placements of a batch, in its order. Lists of numbers, since an object for each placement takes ten times as long to
 * send. Most deliveries are neither duplicates nor refused: those are named by their index in the batch.
 */
export type PackedPlacements = {
  /** 0 for a refused delivery, as its fingerprint. */
  readonly sequences: readonly number[];
  readonly fingerprints: readonly number[];
  readonly duplicates: readonly number[];
  readonly refusals: readonly (readonly [index: number, refusal: string])[];
};

export const packPlacements = (placements: readonly Placement[]): PackedPlacements => {
  const packed = {
    sequences: [] as number[],
    fingerprints: [] as number[],
    duplicates: [] as number[],
    refusals: [] as [number, string][],
  };
  for (const [index, placement] of placements.entries()) {
    const isRefused = 'refusal' in placement;
    packed.sequences.push(isRefused ? 0 : placement.sequence);
    packed.fingerprints.push(isRefused ? 0 : placement.fingerprint);
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
    return { sequence, fingerprint: packed.fingerprints[index] ?? UNKNOWN, duplicate: duplicates.has(index) };
  });
};

/** A page on its way from the reader's thread, packed as a batch is. START is the sequence. */
export type PackedPage = Omit<DeliveryPage, 'deliveries'> &
  PackedDeliveries & { readonly cursors: readonly string[] };

export const packPage = ({ deliveries, ...page }: DeliveryPage<RowDelivery>): PackedPage => {
  let size = 0;
  for (const { body } of deliveries) size += body.byteLength;
  const bytes = new Uint8Array(size);
  const columns = new Columns(deliveries.length);
  let end = 0;
  for (const delivery of deliveries) {
    const start = end;
    bytes.set(delivery.body, start);
    end += delivery.body.byteLength;
    columns.add(delivery, delivery.sequence, start, end);
  }
  const { names, numbers } = columns;
  const cursors = deliveries.map(({ cursor }) => cursor);
  return { ...page, names, numbers, cursors, addresses: deliveries.map(({ addresses }) => addresses), bytes };
};

export const unpackPage = (packed: PackedPage): DeliveryPage => {
  const { names, numbers, cursors, addresses, bytes, ...page } = packed;
  const deliveries = cursors.map((cursor, index): StoredDelivery => {
    const at = index * COLUMNS;
    const name = numbers[at + NAMES] ?? 0;
    return {
      tenant: names[name] ?? '',
      cursor,
      sequence: numbers[at + START] ?? Number.NaN,
      webhookId: names[name + 1] ?? null,
      type: (names[name + 2] ?? null) as StoredDelivery['type'],
      chainId: nullIfNaN(numbers[at + CHAIN]),
      receivedAt: numbers[at + RECEIVED] ?? Number.NaN,
      dispatchedAt: nullIfNaN(numbers[at + DISPATCHED]),
      attempt: nullIfNaN(numbers[at + ATTEMPT]),
      ...readAddresses(addresses[index] ?? ''),
      body: bytes.subarray(numbers[at + BODY], numbers[at + END]),
    };
  });
  return { ...page, deliveries };
};
