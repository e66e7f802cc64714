import { isObject } from '../lib/json/exact-json.ts';
import type { Trace } from '../lib/trace.ts';
import type { KernelPlan } from './kernel/compile-plan.ts';
import type { WriteValues, Written } from './kernel/instance.ts';
import type { MalformedFieldError } from './parse/fields.ts';
import type { ListOrder } from './parse/list-order.ts';
import type { ListPlan } from './parse/record.ts';

/** One page of a list, from one upstream request. */
export type Page<Value> = {
  readonly items: PageItems<Value>;
  /** The offset of the next page; null on the last one. */
  readonly nextOffset: string | null;
  /** Upstream's clock, ISO 8601; null when upstream does not state it. */
  readonly requestTime: string | null;
  readonly responseTime: string | null;
  /** Upstream's `errors` and `warnings` next to good data, unchanged; null if there are none. */
  readonly partialErrors: PartialErrors | null;
  /** When this gateway sent the request, in milliseconds since 1970. */
  readonly fetchedAt: number;
  /** What the page says beside its items in some lists, as it came: see `ListDefinition`. */
  readonly more?: unknown;
};

export type PartialErrors = { readonly errors?: unknown; readonly warnings?: unknown };

/** The partial errors of some pages: those of a single page unchanged, and those of several without repetitions. */
export const partialErrorsOf = (
  pages: readonly Pick<Page<unknown>, 'partialErrors'>[],
): PartialErrors | null => {
  const [first, ...others] = pages.flatMap(({ partialErrors }) => partialErrors ?? []);
  if (first === undefined || others.length === 0) return first ?? null;
  const all = [first, ...others];
  const errors = distinct(all.flatMap((page) => page.errors ?? []));
  const warnings = distinct(all.flatMap((page) => page.warnings ?? []));
  return {
    ...(errors.length > 0 && { errors: errors.length === 1 ? errors[0] : errors }),
    ...(warnings.length > 0 && { warnings }),
  };
};

const distinct = (values: readonly unknown[]): unknown[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

/** Warnings that the service does not cover a chain, can't serve it, or lacks its oldest blocks: the same at every request. */
const LASTING_WARNINGS: readonly unknown[] = ['UNSUPPORTED_CHAIN_IDS', 'CHAIN_NOT_SERVED', 'START_BLOCK'];

/** Whether upstream could not read a part of a page, and may be able to a moment later. */
export const hasFailures = ({ partialErrors }: Pick<Page<unknown>, 'partialErrors'>): boolean => {
  if (partialErrors === null) return false;
  const { errors, warnings = [] } = partialErrors;
  const lasts = (warning: unknown) => isObject(warning) && LASTING_WARNINGS.includes(warning.code);
  return errors !== undefined || !Array.isArray(warnings) || !warnings.every(lasts);
};

/** The items of a page by their index, with what a walk needs to find them again when the pages have shifted. */
export type PageItems<Value> = {
  readonly length: number;
  /** Whether an identity occurs more than once. */
  readonly hasRepeats: boolean;
  /** Identifies the item in its list, on whichever page it is. */
  identity(index: number): string;
  /** The index of the first item of this identity; -1 without one. */
  indexOf(identity: string): number;
  /**
   * The same items, continuing pages that end with `lead`. Items whose identity does not depend on earlier pages are unchanged.
   */
  continuing(lead: Lead | null): PageItems<Value>;
  /** How the pages before this one end, as far as the item's identity depends on it: null for most items. */
  leadAt(index: number): Lead | null;
  /** How the pages up to this one end; null where no identity on the next one depends on it. */
  readonly tail: Lead | null;
  readonly order: ListOrder['kind'];
  /** The number that the list descends by, such as milliseconds since 1970. Null in a list without an order. */
  rank(index: number): number | null;
  /** The error of a malformed item takes its place, and does not affect other items. */
  value(index: number): Value | MalformedFieldError;
  /** Writes the items without reading their values; null where only their values are known. */
  readonly writer: ItemsWriter | null;
  /** The memory of the items in bytes; estimated if only the size of their body is known. */
  memoryBytes(bodyBytes: number): number;
  /**
   * Marks the items as used by the caller until it calls `release`. When the last user has released them, their memory is
   * reused, and they can no longer be read. Items that a user never releases are freed by the garbage collector.
   */
  retain(): void;
  release(): void;
};

/** How pages end in a list that has equal items: with a part of a group, such as the items of one transaction. */
export type Lead = {
  readonly group: string;
  /** The number of equal items of the group, by what identifies each. */
  readonly counts: ReadonlyMap<string, number>;
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

/**
 * The details that a request asks upstream to add to the items of a page, such as decoded data: names in order, comma-separated;
 * '' for none. A page that has more details than are asked for serves as well, and requests merge to one for all.
 */
export type Details = string;

export const NO_DETAILS: Details = '';

export const detailsOf = (names: Iterable<string>): Details => [...new Set(names)].toSorted().join();

export const namesIn = (details: Details): readonly string[] => (details === '' ? [] : details.split(','));

export const unionOf = (all: readonly Details[]): Details => {
  if (all.every((details) => details === all[0])) return all[0] ?? NO_DETAILS;
  const [first = NO_DETAILS, ...others] = new Set(all);
  return others.length === 0 ? first : detailsOf([first, ...others].flatMap(namesIn));
};

/** Upstream tells the prices of at most three earlier hours in one request. */
export const MAX_HOURS = 3;

/** The name of the detail that holds prices as they were this many hours ago. */
export const hourDetail = (hours: number): string => `${hours}h`;

const HOUR = /^(\d+)h$/;

/** The hours among the details, greatest last. */
export const hoursIn = (details: Details): readonly number[] =>
  namesIn(details)
    .flatMap((name) => HOUR.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((one, other) => one - other);

/** Whether one request can ask for all of the details. */
const fitsRequest = (details: Details): boolean => hoursIn(details).length <= MAX_HOURS;

/** What is `wanted`, and as much of the `others` as the same request can ask for: their hours only if all have room. */
export const unionWithin = (wanted: Details, others: readonly Details[]): Details => {
  const all = unionOf([wanted, ...others]);
  if (fitsRequest(all)) return all;
  const withoutHours = namesIn(all).filter((name) => !HOUR.test(name));
  return detailsOf([...namesIn(wanted), ...withoutHours]);
};

/** Groups reads of one page into requests: each read joins the first request that has room for its details. */
export const requestsFor = <Read>(
  reads: readonly Read[],
  detailsIn: (read: Read) => Details,
): readonly (readonly [Read, ...Read[]])[] => {
  const requests: { details: Details; reads: [Read, ...Read[]] }[] = [];
  for (const read of reads) {
    const details = detailsIn(read);
    const found = requests.find((request) => fitsRequest(unionOf([request.details, details])));
    if (found) {
      found.details = unionOf([found.details, details]);
      found.reads.push(read);
    } else requests.push({ details, reads: [read] });
  }
  return requests.map((request) => request.reads);
};

/** Whether a page with details `had` has all that are `wanted`. The Redis scripts compare them alike. */
export const hasDetails = (had: Details, wanted: Details): boolean =>
  wanted === NO_DETAILS || had === wanted || namesIn(wanted).every((name) => namesIn(had).includes(name));

export type PageRequest = {
  /** The group of clients that share the page: see `LoaderParts`. */
  readonly cachePartition: string;
  /**
   * The subject of the list: an address in lower case, or another text. A delivery or a change that names it invalidates the page.
   */
  readonly address: string;
  /** Upstream's `chain_ids`: ids and tags, comma-separated; null for upstream's default. */
  readonly chains: string | null;
  /** Identifies the list: resource, `cachePartition`, address and filters. */
  readonly list: string;
  /** Null for the newest page. */
  readonly offset: string | null;
  /**
   * The identity of the last item of the page before; null when any version of the page will do. Where upstream's offsets
   * count items, a page that was cached before the list grew would leave a gap behind a newer page.
   */
  readonly follows: string | null;
  readonly limit: number;
  /** What the page must have in addition to the usual fields of its items. */
  readonly details: Details;
  /** A cached page up to this age, in milliseconds, is fresh; 0 asks for a page that is fetched from now on. */
  readonly maxAgeMs: number;
  /** As `maxAgeMs`, at this moment, if every change of the list is reported here, by deliveries or by the service; else 0. */
  readonly watchedMs: () => number;
  /** Whether the service tells this gateway of changes of the list. Another cache would not hear of them. */
  readonly isTold: () => boolean;
  /** A cached page up to this age, in milliseconds, is served when upstream fails; 0 for none. */
  readonly staleIfErrorMs: number;
};

/** What is known about a page that another gateway fetched, or this one earlier. */
export type SharedMeta = {
  /** Milliseconds since its request began. */
  readonly ageMs: number;
  readonly follows: string | null;
  readonly limit: number;
  readonly details: Details;
  /** Whether a delivery has invalidated it since. */
  readonly invalidated: boolean;
};

export type Fetched<Value> = {
  readonly page: Page<Value>;
  /** The memory that it takes. */
  readonly memoryBytes: number;
  /** Set if the page was shared. `insteadOf` is the failure that it replaces, if any. */
  readonly shared?: SharedMeta & { readonly insteadOf: unknown };
};

/**
 * Requests a page from upstream, or gets one from another gateway that is younger than `maxAgeMs`. The signal aborts when no
 * operation waits for the page any longer.
 */
export type Fetch<Value> = (
  request: PageRequest,
  signal: AbortSignal,
  maxAgeMs: number,
  trace: Trace,
) => Promise<Fetched<Value>>;

/** How old a cached page may be now. */
export const maxAgeOf = ({ maxAgeMs, watchedMs }: Pick<PageRequest, 'maxAgeMs' | 'watchedMs'>): number =>
  Math.max(maxAgeMs, watchedMs());

/** How long a page with failures is fresh at most: what failed may be back at once. */
export const FAILURES_MS = 1_000;

/** Identifies a page: its list and its offset. */
export const keyOf = ({ list, offset }: PageRequest): string => JSON.stringify([list, offset]);
