import type { Patience } from '../../lib/deadline.ts';
import { mayStandIn, restOf } from '../client/errors.ts';
import type { Meter } from '../client/usage.ts';
import type { Memory } from './cache-budget.ts';
import { createShelf, type Held } from './cache-entries.ts';
import type { News } from './invalidation.ts';
import { type Flight, launch } from './single-flight.ts';

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
  /** With whom its pages are shared: see `LoaderParts`. */
  readonly sharing: string;
  /** Whose list it is, in lower case: news of this address outdates the page. */
  readonly address: string;
  /** Resource, `sharing`, address and filters: what all pages of one list have in common. */
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
  /** A kept page this old, in milliseconds, is fresh; 0 asks for one that is fetched from now on. */
  readonly maxAgeMs: number;
  /** A kept page this old, in milliseconds, may stand in when the service fails; 0 for none. */
  readonly standInMs: number;
};

/** What one upstream request brought. */
type Fetched<Item> = {
  readonly page: Page<Item>;
  /** Size of the body. */
  readonly bytes: number;
  /** What it cost. */
  readonly computeUnits: number;
};

/**
 * How a want was met: by a kept page that was `fresh`, or `stale` and being refreshed, or that stood in for the service
 * (`standIn`); by a request of another operation's (`joined`); or not by anything that was there (`miss`).
 */
export type PageSource = 'fresh' | 'stale' | 'standIn' | 'joined' | 'miss';

/** Asks the service for what is wanted. Its signal aborts when nobody waits any more. */
export type Fetch<Item> = (want: PageWant, signal: AbortSignal) => Promise<Fetched<Item>>;

/** Pages that were fetched, and those that are being fetched. */
export type PageStore<Item> = {
  /**
   * A page that holds at least what is wanted. A fresh one serves; for as long again, a stale one does while one
   * `fetch` refreshes it, at the expense of whoever comes first; else it is what `fetch` brings, for all who ask
   * meanwhile. When that fails for the service's fault, a page of no more than `standInMs` stands in, even one that
   * there was news of, and as long as a refusal asks for (a minute at most), without asking again; when there is none,
   * the failure is passed on, and not kept. Details that were wanted are fetched with each page that follows for as long
   * as one with them might have served: a want without details never displaces them.
   */
  get(want: PageWant, meter: Meter, patience: Patience, fetch: Fetch<Item>): Promise<Page<Item>>;
};

type Found<Item> = { readonly page: Page<Item>; readonly source: PageSource };

type Launched<Item> = { readonly held: Held; readonly flight: Flight<Fetched<Item>> };

/** `onGet` is told how each want was met. */
export const createPageStore = <Item>(
  memory: Memory,
  news: News,
  onGet: (source: PageSource) => void = () => {},
  now: () => number = () => performance.now(),
): PageStore<Item> => {
  const shelf = createShelf<Fetched<Item>>(memory);
  const inFlight = new Map<string, Launched<Item>>();

  const ask = (key: string, asked: PageWant, fetch: Fetch<Item>): Flight<Fetched<Item>> => {
    const startedAt = now();
    // Also those still on their way: this request may take the shelf from them.
    const before = [shelf.get(key)?.held, inFlight.get(key)?.held].map((held) => held?.detailsUntil ?? 0);
    const detailsUntil = Math.max(lastDetailsOf(asked, startedAt), ...before);
    const want = { ...asked, details: asked.details || detailsUntil > startedAt };
    const { follows, limit, details } = want;
    const held: Held = { follows, limit, details, startedAt, detailsUntil, outdated: false, notBefore: 0 };
    const unfollow = news.follow(want.sharing, want.address, held);
    const land = () => {
      if (inFlight.get(key) === launched) inFlight.delete(key);
    };
    const flight = launch((signal) =>
      fetch(want, signal).then(
        (fetched) => {
          land();
          shelf.put(key, { held, value: fetched, bytes: fetched.bytes, onGone: unfollow });
          return fetched;
        },
        (error: unknown) => {
          land();
          unfollow();
          const known = shelf.get(key);
          if (known) known.held.notBefore = now() + restOf(error);
          throw error;
        },
      ),
    );
    const launched = { held, flight };
    inFlight.set(key, launched);
    return flight;
  };

  const underWay = (key: string, want: PageWant): Flight<Fetched<Item>> | null => {
    const launched = inFlight.get(key);
    if (!launched || launched.held.outdated || launched.flight.isAbandoned) return null;
    return serves(launched.held, want) ? launched.flight : null;
  };

  const kept = (key: string, want: PageWant) => {
    const entry = shelf.get(key);
    return entry && serves(entry.held, want) ? entry : null;
  };

  const serves = (held: Held, want: PageWant): boolean => {
    if (!covers(held, want)) return false;
    held.detailsUntil = Math.max(lastDetailsOf(want, now()), held.detailsUntil);
    return true;
  };

  /** A page that needs no waiting for; what has gone stale is refreshed behind it. */
  const atHand = (key: string, want: PageWant, fetch: Fetch<Item>): Found<Item> | null => {
    const known = kept(key, want);
    if (!known) return null;
    const age = now() - known.held.startedAt;
    const mayAsk = now() >= known.held.notBefore;
    const { page } = known.value;
    if (!mayAsk && age <= want.standInMs) return { page, source: 'standIn' };
    if (known.held.outdated || age >= want.maxAgeMs * 2) return null;
    if (age >= want.maxAgeMs && mayAsk && !underWay(key, want))
      ask(key, refreshing(known.held, want), fetch).keepGoing();
    return { page, source: age < want.maxAgeMs ? 'fresh' : 'stale' };
  };

  const standIn = (key: string, want: PageWant, error: unknown): Page<Item> | null => {
    const known = mayStandIn(error) ? kept(key, want) : null;
    return known && now() - known.held.startedAt <= want.standInMs ? known.value.page : null;
  };

  return {
    async get(want, meter, patience, fetch) {
      const key = JSON.stringify([want.list, want.offset]);
      const found = atHand(key, want, fetch);
      const joined = found ? null : underWay(key, want);
      if (found || joined) meter.cached += 1;
      let source: PageSource = found?.source ?? (joined ? 'joined' : 'miss');
      try {
        return found?.page ?? (await (joined ?? ask(key, want, fetch)).join(patience)).page;
      } catch (error) {
        const older = standIn(key, want, error);
        if (!older) throw error;
        if (!joined) meter.cached += 1;
        source = 'standIn';
        return older;
      } finally {
        onGet(source);
      }
    },
  };
};

const covers = (held: Held, want: PageWant): boolean =>
  held.limit >= want.limit &&
  (held.details || !want.details) &&
  (want.follows === null || held.follows === want.follows);

/** As much as the page has by now: whoever is served by it must be served by the next one too. */
const refreshing = ({ follows, limit }: Held, want: PageWant): PageWant => ({
  ...want,
  follows,
  limit: Math.max(limit, want.limit),
});

/** Until when the details of a page that has them `now` might serve, or stand in, for the like of this want. */
const lastDetailsOf = ({ details, maxAgeMs, standInMs }: PageWant, now: number): number =>
  details ? now + Math.max(maxAgeMs * 2, standInMs) : 0;
