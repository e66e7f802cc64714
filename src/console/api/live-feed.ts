import { type Client, createClient } from 'graphql-ws/client';
import {
  Deliveries,
  type DeliveriesSubscription,
  type DeliveryFilter,
  type DeliveryPartsFragment,
  RecentDeliveries,
} from '../__generated__/operations.ts';
import { settings } from '../settings.ts';
import { createStore, credentialHeaders, type Store, signOut } from '../state.ts';
import { closed, type Problem, problemOf, send } from './client.ts';

const MINUTES = 30;
const MINUTE_MS = 60_000;

/** The minutes of the last half hour without an event, the present one last. */
const NO_EVENTS: readonly number[] = Array<number>(MINUTES).fill(0);

/** Adds events to the present minute, which began `minutes` after that of the last ones. */
const counted = (perMinute: readonly number[], minutes: number, arrived: number): number[] => {
  const shifted = [...perMinute, ...Array<number>(Math.min(minutes, MINUTES)).fill(0)].slice(-MINUTES);
  return shifted.with(-1, (shifted.at(-1) ?? 0) + arrived);
};

/** The number of the minute since the epoch. */
const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);

export type Delivery = DeliveryPartsFragment;

/** A delivery, or a gap where the log could not be continued. */
export type FeedItem =
  | {
      readonly kind: 'delivery';
      readonly cursor: string;
      readonly delivery: Delivery;
      readonly isNew: boolean;
    }
  | { readonly kind: 'gap'; readonly cursor: string; readonly message: string };

export type FeedState = {
  /** `waiting`: the connection broke and is being reopened. `ended`: it is not reopened, because of the problem. */
  readonly connection: 'connecting' | 'live' | 'waiting' | 'ended';
  /** The newest first, at most 200. */
  readonly items: readonly FeedItem[];
  /** How many deliveries have arrived since the feed was opened. */
  readonly received: number;
  /** Events in each of the last 30 minutes, the present one last. */
  readonly perMinute: readonly number[];
  readonly problem: Problem | null;
};

export type LiveFeed = {
  readonly state: Store<FeedState>;
  /** Begins again after it has ended. */
  retry(): void;
  close(): void;
};

const MAX_ITEMS = 200;
const STORED = 50;
/** Arrivals are shown in batches, so that a hundred per second take only a few renderings. */
const SHOW_EVERY_MS = 200;

type Wire = {
  readonly data?: DeliveriesSubscription | null;
  readonly errors?: readonly Parameters<typeof problemOf>[0][];
};

/** The cursor of an event that did not fit is in its error. */
const cursorIn = ({ data, errors }: Wire): string | null => {
  const inError = (errors?.[0]?.extensions as { cursor?: unknown } | undefined)?.cursor;
  return data?.deliveries.cursor ?? (typeof inError === 'string' ? inError : null);
};

const initial: FeedState = {
  connection: 'connecting',
  items: [],
  received: 0,
  perMinute: NO_EVENTS,
  problem: null,
};

/**
 * Follows the deliveries that match: the newest stored ones first, then each one as it arrives. After a disconnect it
 * resumes behind the last one, so that none is missed and none comes twice.
 */
export const openLiveFeed = (filter: DeliveryFilter): LiveFeed => {
  const state = createStore(initial);
  const abort = new AbortController();
  let arrived: FeedItem[] = [];
  let minute = minuteOf(Date.now());
  let unsubscribe = () => {};
  let isFollowing = false;

  const change = (part: Partial<FeedState>): void => {
    if (!abort.signal.aborted) state.set({ ...state.get(), ...part });
  };

  const show = (): void => {
    const present = minuteOf(Date.now());
    if (arrived.length === 0 && present === minute) return;
    const { items, received, perMinute } = state.get();
    const deliveries = arrived.filter((item) => item.kind === 'delivery');
    const events = deliveries.reduce((sum, { delivery }) => sum + Math.max(1, delivery.events.length), 0);
    change({
      items: [...arrived.reverse(), ...items].slice(0, MAX_ITEMS),
      received: received + deliveries.length,
      perMinute: counted(perMinute, present - minute, events),
    });
    arrived = [];
    minute = present;
  };
  const timer = setInterval(show, SHOW_EVERY_MS);

  const socket = createSocket({
    connected: () => change({ connection: 'live', problem: null }),
    broken: () => {
      // Without a subscription the client closes the connection itself.
      if (isFollowing) change({ connection: 'waiting' });
    },
    refused: () => {
      change({ connection: 'ended' });
      signOut('The gateway has closed the connection: the credentials have expired, or are refused.');
    },
  });

  const follow = (head: string): void => {
    let after = head;
    isFollowing = true;
    const payload = {
      query: Deliveries.text,
      ...(settings.trustedDocuments && {
        extensions: { persistedQuery: { version: 1, sha256Hash: Deliveries.hash } },
      }),
      // The client writes its message anew for each connection, and so reads the last cursor.
      get variables() {
        return { after, filter };
      },
    };
    unsubscribe = socket.subscribe<DeliveriesSubscription>(payload, {
      next(message) {
        const wire = message as Wire;
        after = cursorIn(wire) ?? after;
        if (wire.data)
          arrived.push({ kind: 'delivery', cursor: after, delivery: wire.data.deliveries.node, isNew: true });
        else if (wire.errors?.[0])
          arrived.push({ kind: 'gap', cursor: after, message: problemOf(wire.errors[0]).message });
      },
      error: (reason) => void ended(reason, after),
      complete: () => void begin(),
    });
  };

  /** The log can't be continued: shows that in its place, and goes on from what is stored now. */
  const ended = async (reason: unknown, cursor: string): Promise<void> => {
    isFollowing = false;
    const problem = Array.isArray(reason) ? problemOf(reason[0] ?? {}) : closed(reason);
    if (problem.code === 'UNAUTHENTICATED') return signOut(problem.message);
    if (problem.code !== 'CURSOR_EXPIRED') return change({ connection: 'ended', problem });
    arrived.push({ kind: 'gap', cursor, message: problem.message });
    show();
    await begin();
  };

  const begin = async (): Promise<void> => {
    isFollowing = false;
    change({ connection: 'connecting', problem: null });
    while (!abort.signal.aborted) {
      const answer = await send(RecentDeliveries, { last: STORED, filter }, abort.signal).catch(() => null);
      if (answer === null) return;
      const page = answer.data?.deliveries;
      if (page) {
        const known = new Set(state.get().items.map(({ cursor }) => cursor));
        const stored = page.edges.flatMap((edge): FeedItem[] =>
          edge === null || known.has(edge.cursor)
            ? []
            : [{ kind: 'delivery', cursor: edge.cursor, delivery: edge.node, isNew: false }],
        );
        change({ items: [...stored.reverse(), ...state.get().items].slice(0, MAX_ITEMS) });
        return follow(page.head);
      }
      const [problem = null] = answer.problems;
      const isRefused =
        problem !== null && ['FORBIDDEN', 'UNAUTHENTICATED', 'BAD_USER_INPUT'].includes(problem.code);
      change({ connection: isRefused ? 'ended' : 'waiting', problem });
      if (isRefused) return;
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  };
  void begin();

  return {
    state,
    retry: () => void begin(),
    close() {
      abort.abort();
      clearInterval(timer);
      unsubscribe();
      void socket.dispose();
    },
  };
};

const UNAUTHORISED = 4403;

type Listeners = {
  connected(): void;
  /** It reconnects. */
  broken(): void;
  /** The gateway refuses the credentials. It does not reconnect. */
  refused(reason: string): void;
};

/** A WebSocket to the gateway that always reconnects: after half a second at first, later every ten seconds. */
const createSocket = (on: Listeners): Client =>
  createClient({
    url: `${location.origin.replace('http', 'ws')}/graphql`,
    connectionParams: credentialHeaders,
    lazyCloseTimeout: 0,
    retryAttempts: Number.POSITIVE_INFINITY,
    // A refused connection is an error, not a close event.
    shouldRetry: (event) => !(event instanceof CloseEvent && event.code === UNAUTHORISED),
    retryWait: (retries) => {
      const longest = Math.min(500 * 2 ** retries, 10_000);
      return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
    },
    on: {
      connected: on.connected,
      closed: (event) => {
        if (event instanceof CloseEvent && event.code === UNAUTHORISED) on.refused(event.reason);
        else on.broken();
      },
    },
  });
