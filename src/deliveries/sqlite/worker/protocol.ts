import type { DeliveryRange, Growth, StoredDelivery } from '../../log/log.ts';
import type { Retention } from '../write/retention.ts';
import type { Fault } from './errors.ts';
import type { Packed } from './packing.ts';
import type { PackedPage } from './page-packing.ts';

/** What a thread can be asked: by name, what it takes and what it answers. */
export type Calls = Readonly<Record<string, { readonly takes: unknown; readonly gives: unknown }>>;

export type WriterCalls = {
  open: { takes: { readonly create: boolean }; gives: Opened };
  append: { takes: Packed; gives: Placed };
  grown: { takes: string | null; gives: Growth };
  trim: { takes: { readonly retention: Retention; readonly now: number }; gives: null };
  close: { takes: null; gives: null };
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

export type ReaderCalls = {
  page: {
    takes: { readonly caller: string; readonly tenant: string; readonly range: DeliveryRange };
    gives: PackedPage;
  };
  get: {
    takes: { readonly caller: string; readonly tenant: string; readonly cursor: string };
    gives: StoredDelivery | null;
  };
  probe: { takes: null; gives: null };
  open: { takes: null; gives: null };
  verify: { takes: null; gives: null };
  close: { takes: null; gives: null };
};

export type Question = { readonly id: number; readonly name: string; readonly takes: unknown };

/** The caller does not wait for the answer to this question any more. */
export type Cancel = { readonly cancel: number };

export type Answer =
  | { readonly id: number; readonly gives: unknown }
  | { readonly id: number; readonly fault: Fault };
