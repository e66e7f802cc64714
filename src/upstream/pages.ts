import { LRUCache } from 'lru-cache';
import type { Meter } from './meter.ts';

/** One page of a list, as one upstream request brought it. */
export type Page<Item> = {
  readonly items: readonly Item[];
  /** Where the next page starts; null on the last one. */
  readonly nextOffset: string | null;
  /** ISO 8601; null where the service does not say. */
  readonly requestTime: string | null;
  readonly responseTime: string | null;
  /** The service's `errors` and `warnings` beside good data, as it put them; null when there are none. */
  readonly partialErrors: PartialErrors | null;
  /** When this gateway asked for it, in milliseconds since 1970. */
  readonly fetchedAt: number;
};

export type PartialErrors = { readonly errors?: unknown; readonly warnings?: unknown };

export type PageWant = {
  /** Resource, key, wallet and filters: what all pages of one list share. */
  readonly list: string;
  /** Null for the newest page. */
  readonly offset: string | null;
  /**
   * The identity of the item that the page must follow on, null when the asker does not care. Under a service
   * whose offsets count items, a page kept from before the head grew would leave a gap behind a newer page.
   */
  readonly follows: string | null;
  readonly limit: number;
  /** Whether decoded data or spam details are wanted. */
  readonly details: boolean;
  /** A kept page may be this old, in milliseconds; 0 asks for one that is fetched from now on. */
  readonly maxAgeMs: number;
};

export type Fetched<Item> = { readonly page: Page<Item>; readonly bytes: number };

/** Pages that were fetched not long ago, and those that are being fetched. */
export type PageStore<Item> = {
  /** A page that holds at least what is wanted: kept, in flight, or by `fetch`, whose failure is passed on and not kept. */
  get(want: PageWant, meter: Meter, fetch: () => Promise<Fetched<Item>>): Promise<Page<Item>>;
};

type Held<Item> = Pick<PageWant, 'follows' | 'limit' | 'details'> & {
  readonly startedAt: number;
  readonly page: Promise<Page<Item>>;
};

/** Parsed items weigh about three times what their JSON does. */
const HEAP_PER_BODY_BYTE = 3;

/** Holds at most `maxBytes`; what was used least recently goes first. */
export const createPageStore = <Item>(maxBytes: number, now: () => number = Date.now): PageStore<Item> => {
  const kept = new LRUCache<string, Held<Item>>({ maxSize: Math.max(1, maxBytes) });
  const inFlight = new Map<string, Held<Item>>();

  return {
    get(want, meter, fetch) {
      const key = JSON.stringify([want.list, want.offset]);
      const joined = inFlight.get(key);
      if (joined && covers(joined, want)) {
        meter.cached += 1;
        return joined.page;
      }
      const known = kept.get(key);
      if (known && covers(known, want) && now() - known.startedAt < want.maxAgeMs) {
        meter.cached += 1;
        return known.page;
      }
      const { follows, limit, details } = want;
      const fetched = fetch();
      const held: Held<Item> = { follows, limit, details, startedAt: now(), page: fetched.then(pageOf) };
      inFlight.set(key, held);
      const settle = () => {
        if (inFlight.get(key) === held) inFlight.delete(key);
      };
      fetched.then(({ bytes }) => {
        settle();
        kept.set(key, held, { size: Math.max(1, bytes * HEAP_PER_BODY_BYTE) });
      }, settle);
      return held.page;
    },
  };
};

const pageOf = <Item>({ page }: Fetched<Item>): Page<Item> => page;

const covers = (held: Pick<PageWant, 'follows' | 'limit' | 'details'>, want: PageWant): boolean =>
  held.limit >= want.limit &&
  (held.details || !want.details) &&
  (want.follows === null || held.follows === null || held.follows === want.follows);
