import { useEffect, useState } from 'preact/hooks';
import { barsOf, createHistory, SLOT_MS, slotOf } from '../live/history.ts';
import { useStore } from '../state.ts';

/** The deliveries of some webhooks in the last 24 hours. */
export type LastDay = {
  /** How many arrived; where it is a part, at least as many. */
  readonly count: number;
  /** Whether there are more in the day than were read. */
  readonly isPart: boolean;
  /** How many arrived in each of at most 24 spans of the same length, the present one last. */
  readonly perSpan: readonly number[];
  /** When the one arrived that is newest; null when none has. */
  readonly newest: string | null;
  /** How many minutes back they were read: fewer than a day's when there are too many. */
  readonly minutes: number;
};

const DAY_MS = 24 * 60 * 60_000;
const DAY_SLOTS = DAY_MS / SLOT_MS;
const SPANS = 24;
/** No span is shorter than a minute: what arrived since the log was last read would be missing from all of it. */
const LEAST_SLOTS = 60_000 / SLOT_MS;
const EVERY_MS = 15_000;

/**
 * Returns the last day of some webhooks together; null until it is read, and when it can't be. It goes on with what arrives,
 * while the page is seen, and at once when `known`, what else tells of arrivals, is another.
 */
export const useLastDay = (known: string): ((webhookIds: readonly string[]) => LastDay | null) => {
  const [history] = useState(() => createHistory({}, ({ webhookId }) => webhookId));
  const state = useStore(history.state);
  useEffect(() => history.close, [history]);
  useEffect(() => {
    const update = () => {
      if (!document.hidden) void history.update(Date.now() - DAY_MS);
    };
    update();
    const timer = setInterval(update, EVERY_MS);
    return () => clearInterval(timer);
  }, [known, history]);

  return (webhookIds) => {
    const { since, newest, head } = state;
    if (head === null) return null;
    const end = slotOf(Date.now()) + 1;
    const total = Math.min(DAY_SLOTS, end - slotOf(since ?? 0));
    const length = Math.max(LEAST_SLOTS, Math.ceil(total / SPANS));
    const bars = Math.ceil(total / length);
    const perSpan = barsOf(state, { end, slots: length, bars, keys: webhookIds }).map(sumOf);
    return {
      perSpan,
      count: sumOf(perSpan),
      isPart: total < DAY_SLOTS,
      minutes: Math.ceil((total * SLOT_MS) / 60_000),
      newest:
        webhookIds
          .map((id) => newest.get(id) ?? '')
          .toSorted()
          .at(-1) || null,
    };
  };
};

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
