import {
  type DeliveryFilter,
  DeliveryTimes,
  type DeliveryTimesQuery,
  type DeliveryTimesQueryVariables,
} from '../__generated__/operations.ts';
import { type Problem, send } from '../api/client.ts';
import { createStore, type Store } from '../state.ts';

/** The shortest bar of a chart: longer ones are sums of these slots. */
export const SLOT_MS = 15_000;
const PAGE = 1000;
const MAX_PAGES = 5;
/** The most deliveries that are read back at once. */
export const MOST_READ = PAGE * MAX_PAGES;
const SHOW_EVERY_MS = 1000;

export const slotOf = (time: number): number => Math.floor(time / SLOT_MS);

type Page = NonNullable<DeliveryTimesQuery['deliveries']>;
type Stored = Pick<NonNullable<Page['nodes'][number]>, 'webhookId' | 'type' | 'receivedAt'>;

/** What is counted separately: a type, or a webhook. */
type Key = string | null;

export type HistoryState = {
  /** Deliveries by key, by the number of their slot since the epoch. Another state may have the same map. */
  readonly slots: ReadonlyMap<number, ReadonlyMap<Key, number>>;
  /** When the newest of each key arrived. */
  readonly newest: ReadonlyMap<Key, string>;
  /** From when on all are counted, in milliseconds since the epoch; null for the whole log. */
  readonly since: number | null;
  /** The end of the log when it was read, from where `update` goes on; null until then. */
  readonly head: string | null;
  /** Grows each time counting starts over: the chart then reads the earlier deliveries again. */
  readonly begun: number;
  readonly isReading: boolean;
  readonly problem: Problem | null;
};

/** Counts of the deliveries in the log, read backwards as far as a chart needs, and kept up to date. */
export type History = {
  readonly state: Store<HistoryState>;
  /** Begins with the newest ones: `before` is the cursor of the oldest of them, null if the log has no older ones. */
  begin(newest: readonly Stored[], before: string | null): void;
  add(arrived: readonly Stored[]): void;
  /** Reads back to the time, at most 5,000 deliveries at once. */
  reach(time: number): void;
  /** Reads what has arrived since the last call; at first, back to the time. For those who do not follow the log. */
  update(time: number): Promise<void>;
  close(): void;
};

export const createHistory = (filter: DeliveryFilter, keyOf: (delivery: Stored) => Key): History => {
  const slots = new Map<number, Map<Key, number>>();
  const newest = new Map<Key, string>();
  const initial = { slots, newest, since: null, head: null, begun: 0, isReading: false, problem: null };
  const state = createStore<HistoryState>(initial);
  let reading = new AbortController();
  /** Where earlier ones are read from: the newest end of the log where it is undefined, and nowhere where it is null. */
  let before: string | null | undefined = null;
  let isDirty = false;

  const count = (deliveries: readonly Stored[]): void => {
    for (const delivery of deliveries) {
      const { receivedAt } = delivery;
      const [key, slot] = [keyOf(delivery), slotOf(Date.parse(receivedAt))];
      const counts = slots.get(slot) ?? new Map<Key, number>();
      slots.set(slot, counts.set(key, (counts.get(key) ?? 0) + 1));
      if (receivedAt > (newest.get(key) ?? '')) newest.set(key, receivedAt);
    }
    isDirty ||= deliveries.length > 0;
  };

  const change = (part: Partial<HistoryState>): void => {
    isDirty = false;
    state.set({ ...state.get(), ...part });
  };

  // A chart moves on even if nothing arrives.
  let shown = 0;
  const timer = setInterval(() => {
    const slot = slotOf(Date.now());
    if (isDirty || slot !== shown) change({});
    shown = slot;
  }, SHOW_EVERY_MS);

  const begin = (first: readonly Stored[], from: string | null | undefined): void => {
    reading.abort();
    reading = new AbortController();
    slots.clear();
    newest.clear();
    before = from;
    count(first);
    const since = from === null ? null : Date.parse(first[0]?.receivedAt ?? new Date().toISOString());
    change({ since, head: null, begun: state.get().begun + 1, isReading: false, problem: null });
  };

  /** Null when it was aborted, or the log can't be read: then the problem is kept. */
  const readPage = async (range: DeliveryTimesQueryVariables): Promise<Page | null> => {
    const { signal } = reading;
    const answer = await send(DeliveryTimes, { ...range, filter }, signal).catch(() => null);
    if (answer === null || signal.aborted) return null;
    const page = answer.data?.deliveries ?? null;
    if (page === null) change({ isReading: false, problem: answer.problems[0] ?? null });
    return page;
  };

  /** Counts what came before, page by page, until all since the time is counted. */
  const read = async (time: number): Promise<void> => {
    change({ isReading: true, problem: null });
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const { since, head } = state.get();
      if (before === null || since === null || since <= time) break;
      const page = await readPage({ last: PAGE, before: before ?? null });
      if (page === null) return;
      const deliveries = page.nodes.filter((node) => node !== null);
      count(deliveries);
      before = page.pageInfo.hasPreviousPage ? page.pageInfo.startCursor : null;
      const [oldest] = deliveries;
      const reached = before === null || !oldest ? null : Date.parse(oldest.receivedAt);
      change({ since: reached, head: head ?? page.head });
    }
    change({ isReading: false });
  };

  const update = async (time: number): Promise<void> => {
    const { head, isReading } = state.get();
    if (isReading) return;
    if (head === null) {
      begin([], undefined);
      return read(time);
    }
    change({ isReading: true, problem: null });
    const page = await readPage({ first: PAGE, after: head });
    if (page === null) {
      const { code } = state.get().problem ?? {};
      // The log may have been replaced. What was only not answered this time is asked for again.
      if (code === 'CURSOR_EXPIRED' || code === 'INVALID_CURSOR') change({ head: null });
      return;
    }
    count(page.nodes.filter((node) => node !== null));
    const { hasNextPage, endCursor } = page.pageInfo;
    change({ head: (hasNextPage && endCursor) || page.head, isReading: false });
    if (hasNextPage) await update(time);
  };

  return {
    state,
    begin,
    add: count,
    reach(time) {
      const { since, isReading } = state.get();
      if (!isReading && since !== null && since > time) void read(time);
    },
    update,
    close() {
      clearInterval(timer);
      reading.abort();
    },
  };
};

type Bars = {
  /** The slot behind the last bar. */
  readonly end: number;
  /** How many slots a bar has. */
  readonly slots: number;
  readonly bars: number;
  readonly keys: readonly Key[];
};

/** How many of each key arrived in each bar. What a clock behind the gateway's puts in the future is in the last one. */
export const barsOf = (
  state: HistoryState,
  { end, slots: length, bars, keys }: Bars,
): readonly number[][] => {
  const first = end - bars * length;
  const values = Array.from({ length: bars }, () => keys.map(() => 0));
  for (const [slot, counts] of state.slots) {
    const bar = values[Math.min(bars - 1, Math.floor((slot - first) / length))];
    for (const [index, key] of keys.entries())
      if (bar) bar[index] = (bar[index] ?? 0) + (counts.get(key) ?? 0);
  }
  return values;
};
