import { DeliveryCounts, type DeliveryFilter, type WebhookType } from '../__generated__/operations.ts';
import { type Problem, send } from '../api/client.ts';
import type { Bucket } from '../charts.ts';
import { createStore, type Store } from '../state.ts';

/** The types of deliveries that the chart shows separately; null is an unknown one. */
const TYPES: readonly (WebhookType | null)[] = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES', null];

/** The spans that a chart can show, and the length of its bars. */
export const SPANS = {
  '15m': { name: '15 minutes', bar: '15 seconds', slots: 1, bars: 60 },
  '1h': { name: '1 hour', bar: 'minute', slots: 4, bars: 60 },
  '6h': { name: '6 hours', bar: '5 minutes', slots: 20, bars: 72 },
  '24h': { name: '24 hours', bar: '30 minutes', slots: 120, bars: 48 },
  '7d': { name: '7 days', bar: '3 hours', slots: 720, bars: 56 },
} as const;
export type Span = keyof typeof SPANS;

/** The shortest bar: longer ones are sums of these slots. */
const SLOT_MS = 15_000;
const PAGE = 1000;
const MAX_PAGES = 5;
const SHOW_EVERY_MS = 1000;

export const lengthOf = (span: Span): number => SPANS[span].slots * SPANS[span].bars * SLOT_MS;

type Stored = { readonly type: WebhookType | null; readonly receivedAt: string };

export type HistoryState = {
  /** Deliveries of each type, by the number of their slot since the epoch. Another state may have the same map. */
  readonly slots: ReadonlyMap<number, readonly number[]>;
  /** From when on all are counted, in milliseconds since the epoch; null for the whole log, or before it has begun. */
  readonly since: number | null;
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
  close(): void;
};

export const createHistory = (filter: DeliveryFilter): History => {
  const slots = new Map<number, readonly number[]>();
  const state = createStore<HistoryState>({ slots, since: null, begun: 0, isReading: false, problem: null });
  let reading = new AbortController();
  let before: string | null = null;
  let isDirty = false;

  const count = (deliveries: readonly Stored[]): void => {
    for (const { type, receivedAt } of deliveries) {
      const slot = Math.floor(Date.parse(receivedAt) / SLOT_MS);
      const counts = slots.get(slot) ?? TYPES.map(() => 0);
      const index = TYPES.indexOf(type);
      slots.set(slot, counts.with(index, (counts[index] ?? 0) + 1));
    }
    isDirty ||= deliveries.length > 0;
  };

  const change = (part: Partial<HistoryState>): void => {
    isDirty = false;
    state.set({ ...state.get(), ...part });
  };

  // The chart moves on even if nothing arrives.
  let shown = 0;
  const timer = setInterval(() => {
    const slot = Math.floor(Date.now() / SLOT_MS);
    if (isDirty || slot !== shown) change({});
    shown = slot;
  }, SHOW_EVERY_MS);

  /** Counts the page before what has been counted. Returns whether the next one may be read. */
  const readPage = async (from: string, signal: AbortSignal): Promise<boolean> => {
    const answer = await send(DeliveryCounts, { last: PAGE, before: from, filter }, signal).catch(() => null);
    if (answer === null || signal.aborted) return false;
    const found = answer.data?.deliveries;
    if (!found) {
      change({ isReading: false, problem: answer.problems[0] ?? null });
      return false;
    }
    const deliveries = found.nodes.filter((node) => node !== null);
    const [oldest] = deliveries;
    count(deliveries);
    before = found.pageInfo.hasPreviousPage ? found.pageInfo.startCursor : null;
    change({ since: before === null || !oldest ? null : Date.parse(oldest.receivedAt) });
    return true;
  };

  const read = async (time: number): Promise<void> => {
    const { signal } = reading;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { since } = state.get();
      if (before === null || since === null || since <= time) break;
      if (!(await readPage(before, signal))) return;
    }
    change({ isReading: false });
  };

  return {
    state,
    begin(newest, from) {
      reading.abort();
      reading = new AbortController();
      slots.clear();
      before = from;
      count(newest);
      const [oldest] = newest;
      change({
        since: from === null || oldest === undefined ? null : Date.parse(oldest.receivedAt),
        begun: state.get().begun + 1,
        isReading: false,
        problem: null,
      });
    },
    add: count,
    reach(time) {
      const { since, isReading } = state.get();
      if (isReading || since === null || since <= time) return;
      change({ isReading: true, problem: null });
      void read(time);
    },
    close() {
      clearInterval(timer);
      reading.abort();
    },
  };
};

/** The bars of the span that ends now, the present one last. */
export const bucketsOf = ({ slots }: HistoryState, span: Span, now: number): readonly Bucket[] => {
  const { slots: length, bars } = SPANS[span];
  const end = Math.floor(now / (length * SLOT_MS)) + 1;
  return Array.from({ length: bars }, (_, index) => {
    const first = (end - bars + index) * length;
    const values = TYPES.map(() => 0);
    for (let slot = first; slot < first + length; slot += 1)
      slots.get(slot)?.forEach((value, type) => {
        values[type] = (values[type] ?? 0) + value;
      });
    return { start: first * SLOT_MS, end: (first + length) * SLOT_MS, values };
  });
};
