import { reconnecting, resuming } from 'evm-graphql-gateway/client';
import { createClient } from 'graphql-ws/client';
import {
  Deliveries,
  type DeliveriesSubscription,
  type DeliveryFilter,
  type DeliveryPartsFragment,
  StoredDeliveries,
} from '../__generated__/operations.ts';
import { settings } from '../settings.ts';
import { credentialHeaders, signOut } from '../state.ts';
import { closed, type Problem, problemOf, send, type WireError } from './client.ts';

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

export type Asked = {
  readonly filter: DeliveryFilter;
  /** Of each delivery only the events that concern this address; null for all events. */
  readonly address: string | null;
};

type Page = {
  /** The oldest first. */
  readonly items: readonly FeedItem[];
  readonly hasOlder: boolean;
  /** The end of the log: a subscription after it misses none. */
  readonly head: string;
};

/** Reads the newest stored deliveries, or the newest before a cursor. Null if it is aborted. */
export const readStored = async (
  { filter, address }: Asked,
  last: number,
  before: string | null,
  signal: AbortSignal,
): Promise<Page | Problem | null> => {
  const answer = await send(StoredDeliveries, { last, before, filter, address }, signal).catch(() => null);
  if (answer === null || signal.aborted) return null;
  const page = answer.data?.deliveries;
  if (!page)
    return answer.problems[0] ?? problemOf({ message: 'Expected a page of deliveries, got nothing.' });
  const items = page.edges.flatMap((edge): FeedItem[] =>
    edge === null ? [] : [{ kind: 'delivery', cursor: edge.cursor, delivery: edge.node, isNew: false }],
  );
  return { items, hasOlder: page.pageInfo.hasPreviousPage, head: page.head };
};

/** `waiting`: the connection broke and is being reopened. `ended`: it is not reopened, because of the problem. */
export type Connection = 'connecting' | 'live' | 'waiting' | 'ended';

type Listeners = {
  /** The newest stored ones, the oldest first: at the beginning, and again behind a gap. */
  stored(items: readonly FeedItem[], hasOlder: boolean): void;
  arrived(item: FeedItem): void;
  connection(connection: Connection, problem: Problem | null): void;
};

type Following = {
  retry(): void;
  close(): void;
};

const STORED = 50;
const RETRY_MS = 2000;

type Wire = {
  readonly data?: DeliveriesSubscription | null;
  readonly errors?: readonly WireError[];
};

const UNAUTHORISED = 4403;

const isRefusal = (event: unknown): boolean => event instanceof CloseEvent && event.code === UNAUTHORISED;

/**
 * Follows the deliveries that match: the newest stored ones first, then each one as it arrives. After a disconnect it
 * resumes behind the last one, so that none is missed and none comes twice.
 */
export const followDeliveries = (asked: Asked, on: Listeners): Following => {
  const abort = new AbortController();
  let unsubscribe = () => {};
  let isFollowing = false;

  const say = (connection: Connection, problem: Problem | null = null): void => {
    if (!abort.signal.aborted) on.connection(connection, problem);
  };

  const socket = resuming(
    createClient({
      url: `${location.origin.replace('http', 'ws')}/graphql`,
      connectionParams: credentialHeaders,
      lazyCloseTimeout: 0,
      ...reconnecting,
      shouldRetry: (event) => !isRefusal(event),
      on: {
        connected: () => say('live'),
        closed(event) {
          if (isRefusal(event)) {
            say('ended');
            signOut('The gateway has closed the connection: the credentials have expired, or are refused.');
            // Without a subscription the client closes the connection itself.
          } else if (isFollowing) say('waiting');
        },
      },
    }),
  );

  const follow = (head: string): void => {
    let after = head;
    isFollowing = true;
    const payload = {
      query: Deliveries.text,
      ...(settings.trustedDocuments && {
        extensions: { persistedQuery: { version: 1, sha256Hash: Deliveries.hash } },
      }),
      variables: { after, ...asked },
    };
    unsubscribe = socket.subscribe<DeliveriesSubscription>(payload, {
      next(message) {
        const { data, errors: [error] = [] } = message as Wire;
        // The cursor of an event that did not fit is in its error.
        after = data?.deliveries.cursor ?? String(error?.extensions?.cursor ?? after);
        if (data)
          on.arrived({ kind: 'delivery', cursor: after, delivery: data.deliveries.node, isNew: true });
        else if (error) on.arrived({ kind: 'gap', cursor: after, message: problemOf(error).message });
      },
      error: (reason) => void ended(reason, after),
      complete: () => void begin(),
    });
  };

  /** The log can't be continued: says that in its place, and goes on from what is stored now. */
  const ended = async (reason: unknown, cursor: string): Promise<void> => {
    isFollowing = false;
    const problem = Array.isArray(reason) ? problemOf(reason[0] ?? {}) : closed(reason);
    if (problem.code === 'UNAUTHENTICATED') return signOut(problem.message);
    if (problem.code !== 'CURSOR_EXPIRED') return say('ended', problem);
    on.arrived({ kind: 'gap', cursor, message: problem.message });
    await begin();
  };

  const begin = async (): Promise<void> => {
    isFollowing = false;
    say('connecting');
    while (!abort.signal.aborted) {
      const page = await readStored(asked, STORED, null, abort.signal);
      if (page === null) return;
      if (!('code' in page)) {
        on.stored(page.items, page.hasOlder);
        return follow(page.head);
      }
      const isRefused = ['FORBIDDEN', 'UNAUTHENTICATED', 'BAD_USER_INPUT'].includes(page.code);
      say(isRefused ? 'ended' : 'waiting', page);
      if (isRefused) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  void begin();

  return {
    retry: () => void begin(),
    close() {
      abort.abort();
      unsubscribe();
      void socket.dispose();
    },
  };
};
