import type { Problem } from '../api/client.ts';
import {
  type Asked,
  type Connection,
  type FeedItem,
  followDeliveries,
  readStored,
} from '../api/live-feed.ts';
import { createStore, type Store } from '../state.ts';
import { createHistory, type History } from './history.ts';

export type FeedState = {
  readonly connection: Connection;
  /** Why the connection has ended, or is waiting. */
  readonly problem: Problem | null;
  /** The newest first, without a hole between them that is not a gap. */
  readonly items: readonly FeedItem[];
  /** What has arrived and waits while the feed is paused, the oldest first, at most the newest 500. */
  readonly held: readonly FeedItem[];
  /** How many deliveries have arrived since the feed was opened. */
  readonly received: number;
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  readonly olderProblem: Problem | null;
};

export type Feed = {
  readonly state: Store<FeedState>;
  readonly history: History;
  /** While it is paused, what arrives is held. */
  pause(isPaused: boolean): void;
  loadOlder(): void;
  retry(): void;
  close(): void;
};

/** Without older pages, the list ends here. Each page that is read makes room for itself. */
const MAX_ITEMS = 200;
const MAX_HELD = 500;
const PAGE = 50;
/** Arrivals are shown in batches, so that a hundred per second take only a few renderings. */
const SHOW_EVERY_MS = 200;

const initial: FeedState = {
  connection: 'connecting',
  problem: null,
  items: [],
  held: [],
  received: 0,
  hasOlder: false,
  isLoadingOlder: false,
  olderProblem: null,
};

const deliveriesIn = (items: readonly FeedItem[]) =>
  items.flatMap((item) => (item.kind === 'delivery' ? [item.delivery] : []));

/** The deliveries that match: the newest stored ones, older ones page by page, and each one as it arrives. */
export const openFeed = (asked: Asked): Feed => {
  const state = createStore(initial);
  const history = createHistory(asked.filter, ({ type }) => type);
  const abort = new AbortController();
  /** The oldest first. */
  let arrived: FeedItem[] = [];
  /** Whether so much was held that its oldest were dropped: then nothing below it belongs to it. */
  let wasCut = false;
  let isPaused = false;
  let limit = MAX_ITEMS;
  let received = 0;

  const change = (part: Partial<FeedState>): void => {
    if (!abort.signal.aborted) state.set({ ...state.get(), ...part });
  };

  const put = (items: readonly FeedItem[], part: Partial<FeedState> = {}): void => {
    const hasOlder = (part.hasOlder ?? state.get().hasOlder) || items.length > limit;
    change({ ...part, items: items.slice(0, limit), hasOlder });
  };

  const show = (): void => {
    const { items, held } = state.get();
    if (isPaused && arrived.length !== held.length) change({ held: [...arrived], received });
    if (isPaused || arrived.length === 0) return;
    put([...arrived.reverse(), ...(wasCut ? [] : items)], {
      held: [],
      received,
      ...(wasCut && { hasOlder: true }),
    });
    arrived = [];
    wasCut = false;
  };
  const timer = setInterval(show, SHOW_EVERY_MS);

  const following = followDeliveries(asked, {
    connection: (connection, problem) => change({ connection, problem }),
    arrived(item) {
      arrived.push(item);
      if (arrived.length > MAX_HELD) {
        arrived = arrived.slice(-MAX_HELD);
        wasCut = true;
      }
      if (item.kind !== 'delivery') return;
      history.add([item.delivery]);
      received += 1;
    },
    stored(newest, hasOlder) {
      const items = [...arrived.toReversed(), ...(wasCut ? [] : state.get().items)];
      [arrived, wasCut] = [[], false];
      const known = new Set(items.map(({ cursor }) => cursor));
      const unknown = newest.filter(({ cursor }) => !known.has(cursor));
      const continues = unknown.length < newest.length;
      if (continues) history.add(deliveriesIn(unknown));
      else history.begin(deliveriesIn(newest), hasOlder ? (newest[0]?.cursor ?? null) : null);
      // Without one in common there may be others between them, unless the page reaches a gap.
      const below = continues || items[0]?.kind === 'gap' ? items : [];
      put([...unknown.toReversed(), ...below], below.length > 0 ? {} : { hasOlder });
    },
  });

  const loadOlder = async (): Promise<void> => {
    const last = state.get().items.at(-1);
    if (last === undefined || state.get().isLoadingOlder) return;
    change({ isLoadingOlder: true, olderProblem: null });
    const answer = await readStored(asked, PAGE, last.cursor, abort.signal);
    if (answer === null) return;
    if ('code' in answer) return change({ isLoadingOlder: false, olderProblem: answer });
    const { items } = state.get();
    // The end of the list may be another one meanwhile.
    if (items.at(-1) !== last) return change({ isLoadingOlder: false });
    const longer = [...items, ...answer.items.toReversed()];
    limit = Math.max(limit, longer.length);
    put(longer, { hasOlder: answer.hasOlder, isLoadingOlder: false });
  };

  return {
    state,
    history,
    pause(paused) {
      isPaused = paused;
      show();
    },
    loadOlder: () => void loadOlder(),
    retry: following.retry,
    close() {
      abort.abort();
      clearInterval(timer);
      history.close();
      following.close();
    },
  };
};
