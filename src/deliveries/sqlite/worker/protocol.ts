import type { Changes, DeliveryRange, StoredDelivery } from '../../log/log.ts';
import type { Retention } from '../write/retention.ts';
import type { SerializedError } from './errors.ts';
import type { Packed } from './packing.ts';
import type { PackedPage } from './page-packing.ts';

/** What a thread can be asked: by name, what it takes and what it answers. */
export type Methods = Readonly<Record<string, { readonly params: unknown; readonly result: unknown }>>;

export type WriterMethods = {
  open: { params: { readonly create: boolean }; result: Opened };
  append: { params: Packed; result: Placed };
  changed: { params: string | null; result: Changes };
  trim: { params: { readonly retention: Retention; readonly now: number }; result: null };
  close: { params: null; result: null };
};

export type Opened = {
  readonly seed: Uint8Array;
  /** Of every tenant that ever had a delivery. */
  readonly heads: readonly (readonly [tenant: string, head: number, fingerprint: number | null])[];
};

/** The places of a batch, in its order. Two lists, since an object for each place would cost more to send. */
export type Placed = {
  /** A sequence, below zero for a duplicate; or a text that says why the delivery can't be stored. */
  readonly sequences: readonly (number | string)[];
  readonly fingerprints: readonly (number | null)[];
};

export type ReaderMethods = {
  page: {
    params: { readonly caller: string; readonly tenant: string; readonly range: DeliveryRange };
    result: PackedPage;
  };
  get: {
    params: { readonly caller: string; readonly tenant: string; readonly cursor: string };
    result: StoredDelivery | null;
  };
  probe: { params: null; result: null };
  open: { params: null; result: null };
  verify: { params: null; result: null };
  close: { params: null; result: null };
};

export type Request = { readonly id: number; readonly name: string; readonly params: unknown };

/** The caller does not wait for the answer to this question any more. */
export type Cancel = { readonly cancel: number };

export type Response =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly fault: SerializedError };
