import type { KernelPlan } from './kernel/compile-plan.ts';
import type { WriteValues, Written } from './kernel/instance.ts';
import type { MalformedFieldError } from './parse/fields.ts';
import type { ListOrder } from './parse/list-order.ts';
import type { ListPlan } from './parse/plan.ts';

/** One page of a list, from one upstream request. */
export type Page<Value> = {
  readonly items: PageItems<Value>;
  /** The offset of the next page; null on the last one. */
  readonly nextOffset: string | null;
  /** Upstream's clock, ISO 8601; null when upstream does not state it. */
  readonly requestTime: string | null;
  readonly responseTime: string | null;
  /** Upstream's `errors` and `warnings` beside good data, unchanged; null when there are none. */
  readonly partialErrors: PartialErrors | null;
  /** When this gateway sent the request, in milliseconds since 1970. */
  readonly fetchedAt: number;
};

export type PartialErrors = { readonly errors?: unknown; readonly warnings?: unknown };

/** The items of a page by their index, with what a walk needs to find them again when the pages have shifted. */
export type PageItems<Value> = {
  readonly length: number;
  /** Whether an identity occurs more than once. */
  readonly hasRepeats: boolean;
  /** Identifies the item in its list, on whichever page it is. */
  identity(index: number): string;
  /** The index of the first item of this identity; -1 without one. */
  indexOf(identity: string): number;
  readonly order: ListOrder['kind'];
  /** What the list descends by: milliseconds since 1970, or another number. Null in a list without an order. */
  rank(index: number): number | null;
  /** The error of a malformed item takes its place, and affects no other item. */
  value(index: number): Value | MalformedFieldError;
  /** Writes the items without reading their values; null where only their values are known. */
  readonly writer: ItemsWriter | null;
  /** The memory that the items take, in bytes; estimated where only the size of the body that they came in is known. */
  memoryBytes(bodyBytes: number): number;
  /**
   * Says that the caller uses the items until it calls `release`. When the last user has released them, their memory is
   * used again, and they can't be read any more. Items that a user never releases are freed by the garbage collector.
   */
  retain(): void;
  release(): void;
};

/** Writes the items of a page as JSON, by plans. */
export type ItemsWriter = {
  /** Identifies the list: one compiled plan writes all its pages. */
  readonly list: object;
  /** Returns null for a plan that it can't write. */
  compile(plan: ListPlan): KernelPlan | null;
  /** Writes the items from `from` to `to`, or some of them: see `PageKernel`. */
  write(plan: KernelPlan, from: number, to: number, values: Omit<WriteValues, 'subject'>): Written;
};

/** The values of all items, in their order. */
export const valuesOf = <Value>(items: PageItems<Value>): (Value | MalformedFieldError)[] =>
  Array.from({ length: items.length }, (_, index) => items.value(index));
